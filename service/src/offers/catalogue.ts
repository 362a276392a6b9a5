import type { Kernel } from '../kernel.ts';
import type { OfferRequirements } from '../requirements/schema.ts';
import type { OfferDetails, OfferList, OfferSummary } from './schema.ts';
import { listPublished } from './store.ts';
import type { StoredOffer } from './stored-offer.ts';

/** A stored offer with its precomputed replies. */
export type Offer = StoredOffer & {
  /** The window in epoch milliseconds; infinite where the offer sets no bound. */
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
  /** Cached first pages, keyed by their limit. */
  firstPages: Map<number, OfferList>;
};

export type Catalogue = {
  /** Returns the published offers of a partner, synchronously if cached. */
  of(partnerId: string): PartnerOffers | Promise<PartnerOffers>;
};

const MAX_PARTNERS = 1_000;

/**
 * Caches offers in memory until the database notifies of a change. While the listening connection is down, every
 * lookup reads the database.
 */
export async function createCatalogue({ db, listener }: Pick<Kernel, 'db' | 'listener'>): Promise<Catalogue> {
  const cache = new Map<string, PartnerOffers>();
  const loading = new Map<string, Promise<PartnerOffers>>();
  // A read that started before a notification may return stale offers, so its result is not cached.
  let generation = 0;
  const clear = () => {
    generation++;
    cache.clear();
    loading.clear();
  };
  listener.onLost(clear);
  listener.onRestored(clear);
  await listener.on('offers', clear);

  const load = async (partnerId: string): Promise<PartnerOffers> => {
    const startedIn = generation;
    const found = toPartnerOffers(await listPublished(db, partnerId));
    if (startedIn === generation && listener.isConnected()) {
      if (cache.size >= MAX_PARTNERS) cache.clear();
      cache.set(partnerId, found);
    }
    return found;
  };
  const loadOnce = (partnerId: string): Promise<PartnerOffers> => {
    const inFlight = loading.get(partnerId);
    if (inFlight !== undefined) return inFlight;
    const read = load(partnerId);
    loading.set(partnerId, read);
    const done = () => void (loading.get(partnerId) === read && loading.delete(partnerId));
    read.then(done, done);
    return read;
  };
  return {
    of: (partnerId) => {
      if (!listener.isConnected()) return load(partnerId);
      return cache.get(partnerId) ?? loadOnce(partnerId);
    },
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
    details: { ...stored, object: 'offer_details' },
    requirements: {
      object: 'offer_requirements',
      offer_id: id,
      options: Object.fromEntries(
        options.map((option) => [option.id, { object: 'list' as const, data: option.requirements }]),
      ),
    },
  };
}
