import { monitorEventLoopDelay } from 'node:perf_hooks';
import { SCOPES } from '@causeway/service/http/access.ts';
import { newId } from '@causeway/service/http/ids.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { issueUserTokens } from '@causeway/service/oauth/issue.ts';
import { applyOffers } from '@causeway/service/offers/apply.ts';
import { parseOfferFile } from '@causeway/service/offers/file.ts';
import { publishOffer } from '@causeway/service/offers/lifecycle.ts';
import { readOfferBySlug } from '@causeway/service/offers/store.ts';
import { walletRoutes } from '@causeway/service/wallets/routes.ts';
import { benchContext } from './context.ts';

/**
 * This process serves the wallet routes, with one offer and many users. It reports its event loop delay and CPU time on
 * request.
 */

const USERS = 64;

const { ctx } = await benchContext();
const client = await ctx.db.selectFrom('oauth_clients').select('client_id').executeTakeFirstOrThrow();
const file = parseOfferFile(
  JSON.stringify({
    slug: 'bench',
    type: 'platform::token_sale',
    name: 'Bench',
    tagline: 'Bench',
    logo_url: 'https://assets.test/logo.svg',
    banner_url: 'https://assets.test/banner.svg',
    asset: 'bench',
    funding_assets: ['bench'],
    partners: [client.client_id],
    options: [{ slug: 'only' }],
    contracts: [],
    assets: { bench: { code: 'B', name: 'Bench', fractional_digits: 18 } },
  }),
  { name: 'bench.yaml' },
);
await applyOffers(ctx, [file]);
await publishOffer(ctx, 'bench');
const offer = await readOfferBySlug(ctx.db, 'bench');

const tokens: string[] = [];
for (let n = 0; n < USERS; n++) {
  const userId = newId(ctx.clock, ctx.random);
  await ctx.db
    .insertInto('users')
    .values({ id: userId, email: `bench-${n}@user.test`, kind: 'person', password_hash: null })
    .execute();
  const { access_token } = await issueUserTokens(ctx, {
    clientId: client.client_id,
    userId,
    scopes: Object.keys(SCOPES),
  });
  tokens.push(access_token);
}

const app = await buildServer(ctx, walletRoutes);
const url = await app.listen({ host: '127.0.0.1', port: 0 });
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let cpu = process.cpuUsage();
process.on('message', (message) => {
  if (message === 'start') {
    delay.reset();
    cpu = process.cpuUsage();
    return;
  }
  const { user, system } = process.cpuUsage(cpu);
  process.send?.({ delayP99: delay.percentile(99) / 1e6, cpuMilliseconds: (user + system) / 1000 });
});
process.send?.({ url, tokens, offerId: offer?.id, optionId: offer?.options[0]?.id });
