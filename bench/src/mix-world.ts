import type { Simulators } from '@causeway/sandbox/simulators/start.ts';
import type { Config } from '@causeway/service/config.ts';
import type { Context } from '@causeway/service/context.ts';
import { SCOPES } from '@causeway/service/http/access.ts';
import { newId } from '@causeway/service/http/ids.ts';
import { issueUserTokens } from '@causeway/service/oauth/issue.ts';
import { applyOffers } from '@causeway/service/offers/apply.ts';
import { parseOfferFile } from '@causeway/service/offers/file.ts';
import { publishOffer } from '@causeway/service/offers/lifecycle.ts';
import { readOfferBySlug } from '@causeway/service/offers/store.ts';
import { deriveSandboxKey } from '@causeway/service/operator/sandbox-keys.ts';
import { createPartner } from '@causeway/service/partners/partner.ts';

/** The settings for connecting to the simulators, which run in another process. */
export type Outside = Pick<Simulators, 'venue' | 'chains'> & {
  /** If true, busy nodes queue requests instead of refusing them. */
  isPatient?: boolean;
};

export type MixUser = {
  userId: string;
  partnerId: string;
  clientId: string;
  clientSecret: string;
  token: string;
  /** Each token can be used once. */
  refreshTokens: string[];
};

const PARTNERS = ['Harbour', 'Meadow', 'Quarry', 'Orchard'];
/**
 * Enough users for all rounds. Some requests work only once per user, and every round must be able to send the same
 * mix.
 */
const USERS_PER_PARTNER = 128;
const SEED_BATCH_SIZE = 16;
const REFRESH_TOKENS_PER_USER = 10;

const REQUIREMENTS = [
  ...[{ type: 'identity_verification' }, { type: 'kyc_approved' }, { type: 'accreditation' }],
  { type: 'external_wallet', details: { protocol: 'ethereum' } },
  { type: 'document', details: { document_type: 'tax_certification' } },
  { type: 'jurisdiction', details: { filter_type: 'reject', filters: [{ country_iso_2: 'US' }] } },
];

/** The settings of a node that serves the mix. */
export function mixSettings({ venue, chains, isPatient = false }: Outside): Partial<Config> {
  return {
    // With `isPatient`, the limits are so high that a busy node queues requests. Otherwise a busy node refuses
    // requests, as in production.
    ...(isPatient
      ? { maxEventLoopLagMs: 60_000, maxPoolWaitMs: 60_000 }
      : { maxEventLoopLagMs: 200, maxPoolWaitMs: 1_000 }),
    venue: { url: venue.url, apiKey: venue.api_key },
    rpcUrls: { ethereum_sepolia: [chains[0]?.service_url ?? ''] },
    operatorKey: { kind: 'local', privateKey: Buffer.from(deriveSandboxKey('operator').slice(2), 'hex') },
  };
}

/** Creates partners, each with its own users, and three offers that are published for all partners. */
export async function mixWorld(ctx: Context, outside: Outside) {
  const scopes = Object.keys(SCOPES);
  const partners = [];
  for (const name of PARTNERS)
    partners.push(
      await createPartner(ctx, { name, redirectUris: ['https://partner.test/callback'], scopes }),
    );
  for (const file of offerFiles(outside)) {
    await applyOffers(ctx, [parseOfferFile(JSON.stringify(file), { name: 'bench.yaml' })]);
    await publishOffer(ctx, file.slug);
  }
  const addUser = async (partnerId: string, clientId: string, clientSecret: string, n: number) => {
    const userId = newId(ctx.clock, ctx.random);
    await ctx.db
      .insertInto('users')
      .values({ id: userId, email: `${clientId}-${n}@user.test`, kind: 'person', password_hash: null })
      .execute();
    const issue = () => issueUserTokens(ctx, { clientId, userId, scopes });
    const { access_token: token } = await issue();
    const refreshTokens: string[] = [];
    while (refreshTokens.length < REFRESH_TOKENS_PER_USER) refreshTokens.push((await issue()).refresh_token);
    return { userId, partnerId, clientId, clientSecret, token, refreshTokens };
  };
  const numbers = Array.from({ length: USERS_PER_PARTNER }, (_, n) => n);
  const byPartner: MixUser[][] = [];
  for (const { partner_id, client_id, client_secret } of partners)
    byPartner.push(await inBatches(numbers, (n) => addUser(partner_id, client_id, client_secret, n)));
  // Interleaves the users of all partners, so that consecutive requests come from different partners.
  const users = numbers.flatMap((n) => byPartner.map((each) => each[n] as MixUser));
  return { users, offers: await Promise.all(['open', 'gated'].map((slug) => optionOf(ctx, slug))) };
}

/** Maps `SEED_BATCH_SIZE` items at a time. The results are in the same order as the items. */
export async function inBatches<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += SEED_BATCH_SIZE)
    results.push(...(await Promise.all(items.slice(at, at + SEED_BATCH_SIZE).map(map))));
  return results;
}

async function optionOf(ctx: Context, slug: string): Promise<{ id: string; option: string }> {
  const offer = await readOfferBySlug(ctx.db, slug);
  return { id: offer?.id ?? '', option: offer?.options[0]?.id ?? '' };
}

function offerFiles({ chains }: Outside) {
  const { venue, sale_funds, tokens } = chains[0]?.deployment ?? {};
  const usdc = tokens?.find(({ asset_id }) => asset_id === 'usd-coin')?.address;
  const contract = { chain: 'ethereum_sepolia', funding_tokens: [{ asset: 'usd-coin', address: usdc }] };
  const common = {
    name: 'A fine asset',
    logo_url: 'https://assets.test/logo.svg',
    funding_assets: ['usd-coin'],
    partners: PARTNERS,
    assets: {
      bench: { code: 'B', name: 'Bench', fractional_digits: 18 },
      'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6 },
    },
  };
  const sale = {
    ...common,
    type: 'platform::token_sale',
    asset: 'bench',
    tagline: 'Own a share of something that lasts',
    banner_url: 'https://assets.test/banner.svg',
  };
  const open = { ...contract, address: sale_funds?.open };
  const gated = { slug: 'gated', options: [{ slug: 'only', requirements: REQUIREMENTS }], contracts: [] };
  const swap = { ...contract, address: venue?.swap, asset_address: venue?.assets[0]?.address };
  return [
    { ...sale, slug: 'open', options: [{ slug: 'only' }], contracts: [open] },
    { ...sale, ...gated },
    {
      ...{ ...common, slug: 'apple', type: 'tokenized::swap', symbol: 'AAPLon', fee_bps: venue?.fee_bps },
      ...{ asset: 'bench', options: [{ slug: 'standard' }], contracts: [swap] },
    },
  ];
}
