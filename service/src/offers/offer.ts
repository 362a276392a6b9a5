import type { Clock } from '../clock.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { Caller } from '../http/access.ts';
import { type Keyset, type PageQuery, readPage } from '../http/paging.ts';
import type { OfferRequirements } from '../requirements/schema.ts';
import type { Offer, PartnerOffers } from './catalogue.ts';
import type { OfferDetails, OfferList } from './schema.ts';
import type { OfferContract, OfferOption } from './store.ts';

export type OfferState = 'upcoming' | 'open' | 'ended';

/** The offer as the caller may see it, by id or slug; `not_found` otherwise. */
export async function findOffer(ctx: Context, caller: Caller, idOrSlug: string): Promise<Offer> {
  return pick(await ctx.offers.of(caller.partnerId), idOrSlug);
}

/** The tokenized swap of this symbol; `symbol_not_found` when the caller sees none. At once when the offers are known. */
export function findOfferBySymbol(ctx: Context, caller: Caller, symbol: string): Offer | Promise<Offer> {
  const known = ctx.offers.of(caller.partnerId);
  const now = ctx.clock.now();
  if (known instanceof Promise) return known.then((found) => pickSymbol(found, symbol, now));
  return pickSymbol(known, symbol, now);
}

function pickSymbol({ offers }: PartnerOffers, symbol: string, now: number): Offer {
  const found = offers.filter((offer) => offer.symbol === symbol);
  // An offer that ended may have a successor.
  const offer = found.find((one) => offerState(one, now) === 'open') ?? found[0];
  if (offer === undefined) throw new ApiError('symbol_not_found');
  return offer;
}

export function findOption(offer: Offer, optionId: string): OfferOption {
  const option = offer.options.find(({ id }) => id === optionId);
  if (option === undefined) throw new ApiError('not_found');
  return option;
}

/** The deployment on a chain; `chain_not_supported` when there is none. */
export function contractOn(offer: Offer, chain: string): OfferContract {
  const contract = offer.contracts.find((one) => one.chain === chain);
  if (contract === undefined)
    throw new ApiError('chain_not_supported', { chain: ['the offer is not deployed on this chain'] });
  return contract;
}

/** The window holds its first instant and not its last. */
export function offerState({ opens, ends }: Pick<Offer, 'opens' | 'ends'>, now: number): OfferState {
  if (now >= ends) return 'ended';
  return now < opens ? 'upcoming' : 'open';
}

export function assertOpen(offer: Offer, clock: Clock): void {
  const state = offerState(offer, clock.now());
  if (state === 'ended') throw new ApiError('offer_ended');
  if (state === 'upcoming') throw new ApiError('offer_not_started');
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
  if (found instanceof Promise) return found.then((offers) => pick(offers, idOrSlug).requirements);
  return pick(found, idOrSlug).requirements;
}

function pick({ byKey }: PartnerOffers, idOrSlug: string): Offer {
  const offer = byKey.get(idOrSlug);
  if (offer === undefined) throw new ApiError('not_found');
  return offer;
}

/** Most callers ask for the first page, which is made once. */
function readOfferPage(
  ctx: Context,
  { partnerId }: Caller,
  query: PageQuery,
  { offers, firstPages }: PartnerOffers,
): OfferList | Promise<OfferList> {
  const isFirst = query.starting_after === undefined && query.starting_before === undefined;
  const limit = query.limit ?? 0;
  const known = isFirst ? firstPages.get(limit) : undefined;
  if (known !== undefined) return known;
  return readPage(ctx.sealing, `offers ${partnerId}`, query, async (keyset) => slice(offers, keyset)).then(
    (page) => {
      const shown = { ...page, data: page.data.map(({ summary }) => summary) };
      if (isFirst) firstPages.set(limit, shown);
      return shown;
    },
  );
}

/** What a database would answer, from the offers in memory. */
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

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
