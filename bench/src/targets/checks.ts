import { eligibilityRoutes } from '@causeway/service/domain/eligibility/routes.ts';
import { savePerson, saveReview } from '@causeway/service/domain/identity/store.ts';
import { applyOffers } from '@causeway/service/domain/offer-files/apply.ts';
import { parseOfferFile } from '@causeway/service/domain/offer-files/file.ts';
import { publishOffer } from '@causeway/service/domain/offer-files/lifecycle.ts';
import { readOfferBySlug } from '@causeway/service/domain/offers/store.ts';
import { savePersonalData } from '@causeway/service/domain/pii/pii.ts';
import { requirementRoutes } from '@causeway/service/domain/requirements/routes.ts';
import { newId } from '@causeway/service/kernel/ids.ts';
import { LEVELS } from '@causeway/service/kernel/model/levels.ts';
import { NO_DATA } from '@causeway/service/kernel/model/personal-data.ts';
import { timestampOf } from '@causeway/service/kernel/wire.ts';
import { buildServer } from '@causeway/service/platform/http/server.ts';
import type { Target } from '../target.ts';
import type { BareRoute } from './bare.ts';
import { benchContext } from './context.ts';

export type Check = { ours: Target; bare: BareRoute };

const requirements = [
  ...[{ type: 'identity_verification' }, { type: 'kyc_approved' }, { type: 'accreditation' }],
  { type: 'external_wallet', details: { protocol: 'ethereum' } },
  { type: 'whitelisted_wallet', details: { max_wallets: 3 } },
  { type: 'document', details: { document_type: 'tax_certification' } },
  { type: 'jurisdiction', details: { filter_type: 'reject', filters: [{ country_iso_2: 'US' }] } },
];
const offer = {
  slug: 'bench',
  type: 'platform::token_sale',
  name: 'A fine asset',
  tagline: 'Own a share of something that lasts',
  logo_url: 'https://assets.test/logo.svg',
  banner_url: 'https://assets.test/banner.svg',
  asset: 'usd-coin',
  funding_assets: ['usd-coin'],
  partners: ['Bench'],
  options: Array.from({ length: 4 }, (_, n) => ({ slug: `option-${n}`, requirements })),
  assets: { 'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6 } },
};

const { ctx, token, partner, userId, databaseUrl } = await benchContext();
await applyOffers(ctx, [parseOfferFile(JSON.stringify(offer), { name: 'bench.yaml' })]);
await publishOffer(ctx, 'bench');
await completeChecks();
const app = await buildServer(ctx, [...requirementRoutes, ...eligibilityRoutes]);
const url = await app.listen({ host: '127.0.0.1', port: 0 });
const headers = { authorization: `Bearer ${token}` };
const describe = async (path: string): Promise<Check> => ({
  ours: { url: `${url}${path}`, headers },
  bare: { databaseUrl, ...(await record(path)) },
});
process.send?.({
  statuses: await describe('/v1/offers/bench/requirements/statuses'),
  eligibility: await describe('/v1/offers/bench/eligibility'),
});

/** Stores what the user has done: reviews, personal data and a wallet for each option. Only the document is missing. */
async function completeChecks(): Promise<void> {
  const now = timestampOf(ctx.clock);
  const review = {
    status: 'completed',
    answer: 'GREEN',
    rejectType: null,
    reviewedAt: ctx.clock.now(),
  } as const;
  for (const levelName of LEVELS) await saveReview(ctx.db, userId, { levelName, ...review }, now);
  const data = { ...NO_DATA, full_legal_name: 'Ada Lovelace', date_of_birth: '1990-01-01', country: 'DE' };
  const saved = await ctx.db.transaction().execute((tx) => savePersonalData(ctx, tx, userId, data, now));
  if (saved === null) throw new Error('the personal data was not saved');
  for (const levelName of LEVELS) await savePerson(ctx.db, userId, levelName, saved.person, now);
  const options = (await readOfferBySlug(ctx.db, 'bench'))?.options ?? [];
  const wallet = {
    protocol: 'ethereum',
    address: `0x${'ab'.repeat(20)}`,
    proved_chain: 'ethereum_sepolia',
  } as const;
  const shared = { user_id: userId, partner_id: partner.partner_id, proved_at: now, created_at: now };
  for (const { id: option_id } of options)
    await ctx.db
      .insertInto('option_addresses')
      .values({ id: newId(ctx.clock, ctx.random), option_id, ...wallet, ...shared })
      .execute();
}

/** Returns the reply and the statements of a request whose token is cached. */
async function record(path: string): Promise<Required<Pick<BareRoute, 'reply' | 'statements'>>> {
  await app.inject({ url: path, headers });
  const client = await ctx.pool.connect();
  const prototype = Object.getPrototypeOf(client) as { query: (...args: unknown[]) => unknown };
  client.release();
  const { query } = prototype;
  const statements: { text: string; values: unknown[] }[] = [];
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const { text, values } = args[0] as Partial<(typeof statements)[number]>;
    // Leaves out what the service does in the background.
    if (text !== undefined && values?.includes(userId)) statements.push({ text, values });
    return Reflect.apply(query, this, args);
  };
  const reply = await app.inject({ url: path, headers });
  prototype.query = query;
  if (reply.statusCode !== 200 || statements.length === 0) throw new Error(`${path}: ${reply.body}`);
  return { reply: reply.json(), statements };
}
