import { readdir, readFile } from 'node:fs/promises';
import type { Context } from '@causeway/service/context.ts';
import { ERRORS } from '@causeway/service/errors.ts';
import type { Plugin } from '@causeway/service/http/server.ts';
import { applyOffers, planOffers } from '@causeway/service/offers/apply.ts';
import { toOffer } from '@causeway/service/offers/catalogue.ts';
import { checkContracts } from '@causeway/service/offers/contract-checks.ts';
import { parseOfferFile } from '@causeway/service/offers/file.ts';
import type { OfferFile } from '@causeway/service/offers/file-schema.ts';
import { publishOffer } from '@causeway/service/offers/lifecycle.ts';
import { offerState } from '@causeway/service/offers/offer.ts';
import { listPublished } from '@causeway/service/offers/store.ts';
import type { ReadyChain } from '../simulators/chains/simulator.ts';
import type { ControlGroup } from '../start.ts';
import { roles } from './keys.ts';
import { partnerIds } from './partners.ts';

/** Oldest first: the list of offers begins with the last. */
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

const FOLDER = new URL('../../offers/', import.meta.url);
const ASSETS = new URL('assets/', FOLDER);
const TYPES: Record<string, string> = { svg: 'image/svg+xml', txt: 'text/plain; charset=utf-8' };

/** The offers that every sandbox has, made from files like an operator's. */
export async function offersShare(ctx: Context, chains: readonly ReadyChain[]): Promise<ControlGroup> {
  await seedOffers(ctx, chains);
  return {
    overview: async () => ({
      offers: await describeOffers(ctx, partnerIds.partner),
      other_offers: await describeOffers(ctx, partnerIds.other_partner),
    }),
    plugins: [await assetsPlugin()],
  };
}

async function seedOffers(ctx: Context, chains: readonly ReadyChain[]): Promise<void> {
  const variables = { base_url: ctx.baseUrl, ...partnerIds, ...deployed(chains) };
  const files = await Promise.all(
    SEEDS.map(async (slug) =>
      parseOfferFile(await readFile(new URL(`${slug}.yaml`, FOLDER), 'utf8'), {
        name: `${slug}.yaml`,
        variables,
      }),
    ),
  );
  const plans = await planOffers(ctx, files);
  if (plans.some(({ changes }) => changes.length > 0)) {
    await refuseWrongContracts(ctx, files);
    await applyOffers(ctx, files);
  }
  for (const slug of SEEDS) await publishOffer(ctx, slug);
}

/** A chain that is slow to answer on a busy machine is no reason not to start. */
async function refuseWrongContracts({ chains, log }: Context, files: readonly OfferFile[]): Promise<void> {
  const assets = files.flatMap((file) => Object.entries(file.assets));
  const digits = new Map(assets.map(([id, { fractional_digits }]) => [id, fractional_digits]));
  const parts = { chains, digits, operator: roles.operator.address };
  const problems = (await Promise.all(files.map((file) => checkContracts(parts, file)))).flat();
  const silent = problems.filter((problem) => problem.endsWith(ERRORS.upstream_unavailable[1]));
  if (silent.length > 0) log.warn(`contracts of ${silent.length} seeds could not be checked`);
  const wrong = problems.filter((problem) => !silent.includes(problem));
  if (wrong.length > 0) throw new Error(`the seeded offers do not fit the chains:\n${wrong.join('\n')}`);
}

/** What stands where, by names that the files use. */
function deployed(chains: readonly ReadyChain[]): Record<string, string> {
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

async function describeOffers({ db, clock }: Context, partnerId: string) {
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

/** Logos, banners and texts that the seeds point to. */
async function assetsPlugin(): Promise<Plugin> {
  const names = await readdir(ASSETS);
  const bodies = await Promise.all(names.map((name) => readFile(new URL(name, ASSETS))));
  return (app) => {
    names.forEach((name, index) => {
      const type = TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
      app.get(`/sandbox/assets/${name}`, { config: { access: { who: 'public' } } }, (request, reply) =>
        reply
          .headers({
            'x-content-type-options': 'nosniff',
            'x-request-id': request.id,
            'cache-control': 'public, max-age=3600',
          })
          .type(type)
          .send(bodies[index]),
      );
    });
  };
}
