import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { applyOffers } from '@causeway/service/domain/offer-files/apply.ts';
import { publishOffer } from '@causeway/service/domain/offer-files/lifecycle.ts';
import { apiRoutes } from '@causeway/service/edges/routes.ts';
import { deriveSandboxKey } from '@causeway/service/kernel/config/sandbox-keys.ts';
import { buildServer } from '@causeway/service/platform/http/server.ts';
import pg from 'pg';
import { hexToBytes } from 'viem/utils';
import { saleOfferFile, UNIT } from '../../service/test/support/sale.ts';
import { startTarget } from './target.ts';
import { benchContext } from './targets/context.ts';
import type { SettlementChain } from './targets/settlement-chain.ts';

// Counts what one `POST /v1/participations` costs: the source files that it enters, and its round trips to the database,
// `begin` and `commit` included. Nothing else runs in this process, and the caches are warm.

const WARM_UP = 5;
const SETTLE_MS = 1_000;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const chain = await startTarget<SettlementChain>('settlement-chain', { wallets: WARM_UP + 2, blockMs: 50 });
const { ctx, token, partner, userId } = await benchContext({
  rpcUrls: { ethereum_sepolia: [chain.url] },
  operatorKey: { kind: 'local', privateKey: Buffer.from(hexToBytes(deriveSandboxKey('operator'))) },
});
const offer = await publishSale();
await ctx.db
  .insertInto('wallet_proofs')
  .values(chain.approvals.map(({ address }) => ({ address, ...proof() })))
  .execute();
const app = await buildServer(ctx, apiRoutes);

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
const { query } = pg.Client.prototype;
let statements: string[] = [];
pg.Client.prototype.query = function (this: unknown, ...args: unknown[]) {
  const [statement] = args as [string | { text: string }];
  const text = typeof statement === 'string' ? statement : statement.text;
  // The connection that listens for notifications sends a heartbeat.
  if (text !== 'select 1') statements.push(text);
  return Reflect.apply(query, this, args);
} as typeof query;

for (let i = 0; i < WARM_UP; i++) await participate(i, {});
await measure('without an Idempotency-Key', WARM_UP, {});
await measure('with an Idempotency-Key', WARM_UP + 1, { 'idempotency-key': 'bench' });
process.kill(process.pid, 'SIGTERM');

async function publishSale() {
  const file = { ...saleOfferFile(chain.deployment, chain.fund), partners: ['Bench'] };
  await applyOffers(ctx, [file]);
  await publishOffer(ctx, file.slug);
  for (;;) {
    const offer = (await ctx.offers.of(partner.partner_id)).byKey.get(file.slug);
    if (offer !== undefined) return offer;
    await sleep(10);
  }
}

function proof() {
  return {
    ...{ partner_id: partner.partner_id, user_id: userId, chain: '*', protocol: 'ethereum' as const },
    ...{ kind: 'key' as const, proved_at: '2026-01-01T00:00:00Z' },
  };
}

async function participate(index: number, headers: Record<string, string>): Promise<void> {
  const { address, hash } = chain.approvals[index] ?? {};
  const reply = await app.inject({
    method: 'POST',
    url: '/v1/participations',
    headers: { authorization: `Bearer ${token}`, ...headers },
    payload: {
      ...{ offer_id: offer.id, offer_option_id: offer.options[0]?.id, chain: 'ethereum_sepolia' },
      ...{ wallet_address: address, amount: String(UNIT), asset_id: 'usd-coin' },
      approval_transaction_hash: hash,
    },
  });
  if (reply.statusCode !== 200) throw new Error(reply.body);
}

async function measure(name: string, index: number, headers: Record<string, string>): Promise<void> {
  // What the previous request leaves behind, such as notifications, does not count.
  await sleep(SETTLE_MS);
  await session.post('Profiler.takePreciseCoverage');
  statements = [];
  await participate(index, headers);
  const sent = statements;
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const entered = result.filter(
    ({ url, functions }) =>
      /\/(service\/src|contracts)\//.test(url) && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
  );
  const files = [
    ...new Set(entered.map(({ url }) => fileURLToPath(url.replace(/\?.*/, '')).slice(ROOT.length))),
  ];
  console.log(`${name}: ${files.length} files, ${sent.length} round trips`);
  if (!process.argv.includes('--list')) return;
  for (const text of sent) console.log(`  ${text.replace(/\s+/g, ' ').slice(0, 160)}`);
  for (const file of files.sort()) console.log(`  ${file}`);
}
