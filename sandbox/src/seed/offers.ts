import { readFile } from 'node:fs/promises';
import { applyOffers, planOffers } from '@causeway/service/domain/offer-files/apply.ts';
import { checkContracts } from '@causeway/service/domain/offer-files/contract-checks.ts';
import { parseOfferFile } from '@causeway/service/domain/offer-files/file.ts';
import type { OfferFile } from '@causeway/service/domain/offer-files/file-schema.ts';
import { publishOffer } from '@causeway/service/domain/offer-files/lifecycle.ts';
import { offerState, toOffer } from '@causeway/service/domain/offers/offer.ts';
import { listPublished } from '@causeway/service/domain/offers/store.ts';
import type { KeyRole } from '@causeway/service/kernel/config/role.ts';
import { ERRORS } from '@causeway/service/kernel/errors.ts';
import type { Context } from '@causeway/service/platform/context/context.ts';
import type { ReadyChain } from '../simulators/chains/simulator.ts';
import type { ReadySolana } from '../simulators/solana/simulator.ts';
import { roles } from './keys.ts';
import { partnerIds } from './partners.ts';
import { solanaRoles } from './solana-keys.ts';

/** The offers in creation order. Partners see the newest offer first, so their lists start with the last entry. */
const SEEDS = [
  'treasury-fund-classic',
  'lighthouse-notes',
  'old-brewery',
  'tidal-array',
  'tesla-tokenized',
  'apple-tokenized',
  'treasury-fund',
  'harbour-quarter',
] as const;

export const OFFER_FOLDER = new URL('../../offers/', import.meta.url);

/**
 * Applies and publishes the offers that every sandbox has. Each offer has an offer file, just like an operator's
 * offers.
 */
export async function seedOffers(
  ctx: Context,
  { chains, solana }: { chains: readonly ReadyChain[]; solana: ReadySolana },
): Promise<void> {
  const contracts = { ...contractVariables(chains), ...solanaVariables(solana) };
  const variables = { base_url: ctx.baseUrl, ...partnerIds, ...contracts };
  const files = await Promise.all(
    SEEDS.map(async (slug) =>
      parseOfferFile(await readFile(new URL(`${slug}.yaml`, OFFER_FOLDER), 'utf8'), {
        name: `${slug}.yaml`,
        variables,
      }),
    ),
  );
  const sharedAssets = 'change';
  const plans = await planOffers(ctx, files, { sharedAssets });
  if (plans.some(({ changes }) => changes.length > 0)) {
    await verifyContracts(ctx, files);
    await applyOffers(ctx, files, { sharedAssets });
  }
  for (const slug of SEEDS) await publishOffer(ctx, slug);
}

/**
 * Throws if an offer does not match its contracts. If a chain does not respond, which can happen on a busy machine,
 * only logs the contracts that could not be checked.
 */
async function verifyContracts({ chains, log }: Context, files: readonly OfferFile[]): Promise<void> {
  const assets = files.flatMap((file) => Object.entries(file.assets));
  const digits = new Map(assets.map(([id, { fractional_digits }]) => [id, fractional_digits]));
  const parts = {
    ...{ chains, digits, solanaOperatorsOf: () => [solanaRoles.operator.address] },
    addressOf: (role: KeyRole) => (role === 'supplier' ? roles.supplier : roles.operator).address,
  };
  const problems = (await Promise.all(files.map((file) => checkContracts(parts, file)))).flat();
  const unreachable = problems.filter((problem) => problem.endsWith(ERRORS.upstream_unavailable[1]));
  if (unreachable.length > 0)
    log.warn({ problems: unreachable }, 'could not check some contracts of the seeded offers');
  const wrong = problems.filter((problem) => !unreachable.includes(problem));
  if (wrong.length > 0)
    throw new Error(`the seeded offers do not match the deployed contracts:\n${wrong.join('\n')}`);
}

/** Returns the addresses of tokens and contracts under the names used in the offer files. */
function contractVariables(chains: readonly ReadyChain[]): Record<string, string> {
  return Object.fromEntries(
    chains.flatMap(({ chain, deployment }) => [
      ...deployment.tokens.map(({ asset_id, address }) => [`${chain}.token.${asset_id}`, address]),
      ...Object.entries(deployment.sale_funds).map(([name, address]) => [
        `${chain}.sale_fund.${name}`,
        address,
      ]),
      [`${chain}.fund_swap`, deployment.fund_swap.address],
      [`${chain}.older_fund_swap`, deployment.older_fund_swap.address],
      ...(deployment.venue === null ? [] : [[`${chain}.tokenized_swap`, deployment.venue.swap]]),
    ]),
  );
}

function solanaVariables({ chain, deployment }: ReadySolana): Record<string, string> {
  return {
    [`${chain}.sale_fund.open`]: deployment.sale_fund,
    [`${chain}.vault`]: deployment.vault,
    ...Object.fromEntries(
      deployment.tokens.map(({ asset_id, address }) => [`${chain}.token.${asset_id}`, address]),
    ),
  };
}

/** Returns a partner's offers, as in `GET /sandbox`. */
export async function describeOffers({ db, clock }: Context, partnerId: string) {
  return (await listPublished(db, partnerId)).map((offer) => ({
    id: offer.id,
    slug: offer.slug,
    type: offer.type,
    state: offerState(toOffer(offer), clock.now()),
    options: offer.options.map(({ id, slug, requirements }) => ({
      id,
      slug,
      requirements: requirements.map(({ type }) => type),
    })),
  }));
}
