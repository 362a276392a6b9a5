import type { OfferDetails, OfferList, OfferSummary } from '../../kernel/model/offer.ts';
import type { OfferRequirements } from '../../kernel/model/requirement.ts';
import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import type { Kernel } from '../../platform/context/kernel.ts';
import { createNotifiedCache } from '../../platform/db/notified-cache.ts';
import { listPublished } from './store.ts';

/** A stored offer, with the API replies about it computed in advance. */
export type Offer = StoredOffer & {
  /** When the sale opens and ends, in epoch milliseconds; `-Infinity` or `Infinity` if the offer sets no such time. */
  opens: number;
  ends: number;
  summary: OfferSummary;
  details: OfferDetails;
  requirements: OfferRequirements;
};

/** The published offers of one partner. */
export type PartnerOffers = {
  /** Newest first. */
  offers: readonly Offer[];
  /** Keyed by id and by slug. */
  byKey: ReadonlyMap<string, Offer>;
  /** Cached first pages, keyed by the requested limit. */
  firstPages: Map<number, OfferList>;
};

export type Catalogue = {
  /** Returns a partner's published offers, synchronously if they are cached. */
  of(partnerId: string): PartnerOffers | Promise<PartnerOffers>;
};

const MAX_PARTNERS = 1_000;

/** Creates the catalogue. Offers are cached until a notification says that they changed. */
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
