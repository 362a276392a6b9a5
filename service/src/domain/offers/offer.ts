import type { Caller } from '../../kernel/access.ts';
import { chainFacts } from '../../kernel/chains.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { assertKnownType } from '../../kernel/model/known-types.ts';
import type { OfferDetails, OfferList } from '../../kernel/model/offer.ts';
import type { OfferRequirements } from '../../kernel/model/requirement.ts';
import type {
  EvmContract,
  OfferContract,
  OfferOption,
  StoredOffer,
} from '../../kernel/model/stored-offer.ts';
import { type Keyset, type PageQuery, readPage } from '../../kernel/paging.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Kernel } from '../../platform/context/kernel.ts';
import type { Catalogue, Offer, PartnerOffers } from '../../platform/context/ports.ts';
import { createNotifiedCache } from '../../platform/db/notified-cache.ts';
import type { Db } from '../../platform/db/pool.ts';
import {
  listAllOffers,
  listPartnersOf,
  listPublished,
  readOfferById,
  readOfferBySlug,
  readPublished,
  shareOffer,
} from './store.ts';

type OfferState = 'upcoming' | 'open' | 'ended';

export async function findOffer(ctx: Context, caller: Caller, idOrSlug: string): Promise<Offer> {
  return pick(await ctx.offers.of(caller.partnerId), idOrSlug);
}

/** Finds a partner's published offer by id. For background work, which has no caller. */
export async function findOfferById(
  { offers }: Pick<Context, 'offers'>,
  partnerId: string,
  id: string,
): Promise<Offer | undefined> {
  return (await offers.of(partnerId)).byKey.get(id);
}

/** Finds an offer by id, even if it is no longer published for the partner. Throws `not_found` if it does not exist. */
export async function findAnyOffer(
  ctx: Pick<Context, 'offers' | 'db'>,
  partnerId: string,
  id: string,
): Promise<Offer> {
  const published = await findOfferById(ctx, partnerId, id);
  if (published !== undefined) return published;
  const stored = await readOfferById(ctx.db, id);
  if (stored === null) throw new ApiError('not_found');
  return toOffer(stored);
}

/** For operators only. Throws `not_found` if the offer does not exist. */
export async function findOfferWithPartners(
  db: Db,
  idOrSlug: string,
): Promise<{ offer: Offer; partners: { id: string; name: string }[] }> {
  const stored = await (isId(idOrSlug) ? readOfferById : readOfferBySlug)(db, idOrSlug);
  if (stored === null) throw new ApiError('not_found', {}, { message: `Offer ${idOrSlug} not found.` });
  return { offer: toOffer(stored), partners: await listPartnersOf(db, stored.id) };
}

/** Finds the tokenized swap with this symbol, synchronously if cached. Throws `symbol_not_found` if there is none. */
export function findOfferBySymbol(ctx: Context, caller: Caller, symbol: string): Offer | Promise<Offer> {
  const found = ctx.offers.of(caller.partnerId);
  const now = ctx.clock.now();
  if (found instanceof Promise) return found.then((offers) => pickSymbol(offers, symbol, now));
  return pickSymbol(found, symbol, now);
}

function pickSymbol({ offers }: PartnerOffers, symbol: string, now: number): Offer {
  const matches = offers.filter((offer) => offer.symbol === symbol);
  // Prefers the open offer, because an ended offer and its successor can have the same symbol.
  const offer = matches.find((match) => offerState(match, now) === 'open') ?? matches[0];
  if (offer === undefined) throw new ApiError('symbol_not_found');
  return offer;
}

export function findOption(offer: Offer, optionId: string): OfferOption {
  const option = offer.options.find(({ id }) => id === optionId);
  if (option === undefined) throw new ApiError('not_found');
  return option;
}

export function contractOn(offer: Offer, chain: string): OfferContract {
  const contract = offer.contracts.find((deployment) => deployment.chain === chain);
  if (contract === undefined)
    throw new ApiError('chain_not_supported', { chain: ['the offer is not deployed on this chain'] });
  return contract;
}

export function evmContractOn(offer: Offer, chain: string): EvmContract {
  const contract = contractOn(offer, chain);
  if (chainFacts(contract.chain).protocol !== 'ethereum')
    throw new ApiError('chain_not_supported', { chain: ['must be an EVM chain'] });
  return contract as EvmContract;
}

/** Throws `contract_not_found` or `contract_reverted` if the contract is marked as unreadable. */
export function assertReadable({ unreadable, address }: Pick<OfferContract, 'unreadable' | 'address'>): void {
  if (unreadable === null) return;
  const { code, reason } = unreadable;
  throw new ApiError(code, code === 'contract_not_found' ? { address } : { reason });
}

/** Returns the state of an offer. The offer is open from `opens` (inclusive) until `ends` (exclusive). */
export function offerState({ opens, ends }: Pick<Offer, 'opens' | 'ends'>, now: number): OfferState {
  if (now >= ends) return 'ended';
  return now < opens ? 'upcoming' : 'open';
}

/**
 * Reads from the database, because the caller's copy may be out of date. Throws if the offer has ended or is not
 * published for the partner any more. Call it in a statement after the one that locks the offer, so that it sees what
 * was committed meanwhile.
 */
export async function readLockedOffer(
  tx: Db,
  offerId: string,
  partnerId: string,
  clock: Clock,
): Promise<StoredOffer> {
  const stored = await readPublished(tx, partnerId, offerId);
  if (stored === null) throw new ApiError('not_found');
  if (stored.ends_at !== null && clock.now() >= Date.parse(stored.ends_at)) throw new ApiError('offer_ended');
  return stored;
}

export function assertStarted({ starts_at }: StoredOffer, clock: Clock): void {
  if (starts_at !== null && clock.now() < Date.parse(starts_at)) throw new ApiError('offer_not_started');
}

/** Thrown if the terms have changed since a request read them. The request runs again under those of `offer`. */
export class TermsChanged extends Error {
  readonly offer: Offer;

  constructor(offer: Offer) {
    super(`the terms of the offer ${offer.slug} have changed`);
    this.name = 'TermsChanged';
    this.offer = offer;
  }
}

/** The terms are options, contracts and funding assets. */
export function assertSameTerms(offer: Offer, stored: StoredOffer): void {
  if (termsOf(stored) !== termsOf(offer)) throw new TermsChanged(toOffer(stored));
}

function termsOf({ options, contracts, funding_assets }: StoredOffer): string {
  return JSON.stringify([options, contracts, funding_assets]);
}

/**
 * Locks a partner's published offer until the transaction ends. Throws if it has ended, but not if it has not opened
 * yet, because users may meet its requirements in advance.
 */
export async function lockOptions(
  tx: Db,
  offerId: string,
  partnerId: string,
  clock: Clock,
): Promise<OfferOption[]> {
  await shareOffer(tx, offerId);
  return (await readLockedOffer(tx, offerId, partnerId, clock)).options;
}

export async function listServedOffers({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<StoredOffer[]> {
  const now = clock.now();
  return (await listAllOffers(db)).filter(
    (offer) => offer.published_at !== null && (offer.ends_at === null || Date.parse(offer.ends_at) > now),
  );
}

export function listOffers(ctx: Context, caller: Caller, query: PageQuery): OfferList | Promise<OfferList> {
  const found = ctx.offers.of(caller.partnerId);
  if (found instanceof Promise) return found.then((offers) => readOfferPage(ctx, caller, query, offers));
  return readOfferPage(ctx, caller, query, found);
}

export function readOffer(
  ctx: Context,
  caller: Caller,
  idOrSlug: string,
): OfferDetails | Promise<OfferDetails> {
  const found = ctx.offers.of(caller.partnerId);
  if (found instanceof Promise) return found.then((offers) => pick(offers, idOrSlug).details);
  return pick(found, idOrSlug).details;
}

export function readRequirements(
  ctx: Context,
  caller: Caller,
  idOrSlug: string,
): OfferRequirements | Promise<OfferRequirements> {
  const found = ctx.offers.of(caller.partnerId);
  if (found instanceof Promise) return found.then((offers) => pickRequirements(offers, idOrSlug));
  return pickRequirements(found, idOrSlug);
}

function pickRequirements(offers: PartnerOffers, idOrSlug: string): OfferRequirements {
  const { options, requirements } = pick(offers, idOrSlug);
  for (const option of options) option.requirements.forEach(assertKnownType);
  return requirements;
}

function pick({ byKey }: PartnerOffers, idOrSlug: string): Offer {
  const offer = byKey.get(idOrSlug);
  if (offer === undefined) throw new ApiError('not_found');
  return offer;
}

function readOfferPage(
  ctx: Context,
  { partnerId }: Caller,
  query: PageQuery,
  { offers, firstPages }: PartnerOffers,
): OfferList | Promise<OfferList> {
  const isFirst = query.starting_after === undefined && query.starting_before === undefined;
  const limit = query.limit ?? 0;
  const cached = isFirst ? firstPages.get(limit) : undefined;
  if (cached !== undefined) return cached;
  return readPage(ctx.sealing, `offers ${partnerId}`, query, async (keyset) => slice(offers, keyset)).then(
    (page) => {
      const summaries = { ...page, data: page.data.map(({ summary }) => summary) };
      if (isFirst) firstPages.set(limit, summaries);
      return summaries;
    },
  );
}

/** Applies a keyset query to the offers in memory. */
function slice(offers: readonly Offer[], { direction, position, limit }: Keyset): Offer[] {
  const ordered = direction === 'older' ? offers : offers.toReversed();
  const isBeyond = ({ inserted_at, id }: Offer) => {
    if (position === null) return true;
    const order =
      inserted_at === position.inserted_at
        ? compare(id, position.id)
        : compare(inserted_at, position.inserted_at);
    return direction === 'older' ? order < 0 : order > 0;
  };
  return ordered.filter(isBeyond).slice(0, limit);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const MAX_PARTNERS = 1_000;

export async function createCatalogue({ db, listener }: Pick<Kernel, 'db' | 'listener'>): Promise<Catalogue> {
  const partners = createNotifiedCache<PartnerOffers>(listener, MAX_PARTNERS);
  await listener.on('offers', () => partners.invalidate());
  return {
    of: (partnerId) =>
      partners.get(partnerId) ??
      partners.load(partnerId, async () => toPartnerOffers(await listPublished(db, partnerId))),
  };
}

function toPartnerOffers(stored: readonly StoredOffer[]): PartnerOffers {
  const offers = stored.map(toOffer);
  const byKey = new Map(
    offers.flatMap((offer) => [[offer.id, offer] as const, [offer.slug, offer] as const]),
  );
  return { offers, byKey, firstPages: new Map() };
}

export function toOffer(stored: StoredOffer): Offer {
  const { id, slug, type, tagline, starts_at, ends_at, logo_url, banner_url, options } = stored;
  const summary = { id, slug, type, tagline, starts_at, ends_at, logo_url, banner_url, options };
  return {
    ...stored,
    opens: starts_at === null ? -Infinity : Date.parse(starts_at),
    ends: ends_at === null ? Infinity : Date.parse(ends_at),
    summary: { object: 'offer', ...summary },
    details: {
      ...stored,
      object: 'offer_details',
      contracts: stored.contracts.map((contract) => ({
        ...contract,
        allow_list_address: contract.allow_list,
      })),
    },
    requirements: {
      object: 'offer_requirements',
      offer_id: id,
      options: Object.fromEntries(
        options.map((option) => [option.id, { object: 'list' as const, data: option.requirements }]),
      ),
    },
  };
}
