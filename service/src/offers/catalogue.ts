import type { Kernel } from '../kernel.ts';
import type { OfferRequirements } from '../requirements/schema.ts';
import type { OfferDetails, OfferList, OfferSummary } from './schema.ts';
import { listPublished, type StoredOffer } from './store.ts';

/** An offer with what is the same for every request about it. */
export type Offer = StoredOffer & {
  /** The window in milliseconds since the epoch; infinite where it is open. */
  opens: number;
  ends: number;
  summary: OfferSummary;
  details: OfferDetails;
  requirements: OfferRequirements;
};

/** What one partner's callers see. */
export type PartnerOffers = {
  /** Newest first. */
  offers: readonly Offer[];
  /** By id and by slug. */
  byKey: ReadonlyMap<string, Offer>;
  /** First pages that were asked for, by their limit. */
  firstPages: Map<number, OfferList>;
};

export type Catalogue = {
  /** The published offers of a partner; at once when they are known. */
  of(partnerId: string): PartnerOffers | Promise<PartnerOffers>;
};

const MAX_PARTNERS = 1_000;

/**
 * Offers are kept in memory until the database says that they changed. That holds while the listening connection
 * stands: without it every question is a read.
 */
export async function createCatalogue({ db, listener }: Pick<Kernel, 'db' | 'listener'>): Promise<Catalogue> {
  const kept = new Map<string, PartnerOffers>();
  const loading = new Map<string, Promise<PartnerOffers>>();
  // Counts what was heard: a read that began before a message may bring back what the message ended.
  let heard = 0;
  const forget = () => {
    heard++;
    kept.clear();
    loading.clear();
  };
  listener.onLost(forget);
  listener.onRestored(forget);
  await listener.on('offers', forget);

  const load = async (partnerId: string): Promise<PartnerOffers> => {
    const began = heard;
    const found = arrange(await listPublished(db, partnerId));
    if (began === heard && listener.isConnected()) {
      if (kept.size >= MAX_PARTNERS) kept.clear();
      kept.set(partnerId, found);
    }
    return found;
  };
  const loadOnce = (partnerId: string): Promise<PartnerOffers> => {
    const inFlight = loading.get(partnerId);
    if (inFlight !== undefined) return inFlight;
    const answer = load(partnerId);
    loading.set(partnerId, answer);
    const done = () => void (loading.get(partnerId) === answer && loading.delete(partnerId));
    answer.then(done, done);
    return answer;
  };
  return {
    of: (partnerId) => {
      if (!listener.isConnected()) return load(partnerId);
      return kept.get(partnerId) ?? loadOnce(partnerId);
    },
  };
}

function arrange(stored: readonly StoredOffer[]): PartnerOffers {
  const offers = stored.map(toOffer);
  const byKey = new Map(
    offers.flatMap((offer) => [[offer.id, offer] as const, [offer.slug, offer] as const]),
  );
  return { offers, byKey, firstPages: new Map() };
}

export function toOffer(stored: StoredOffer): Offer {
  const { id, slug, type, tagline, starts_at, ends_at, logo_url, banner_url, options } = stored;
  const shown = { id, slug, type, tagline, starts_at, ends_at, logo_url, banner_url, options };
  return {
    ...stored,
    opens: starts_at === null ? -Infinity : Date.parse(starts_at),
    ends: ends_at === null ? Infinity : Date.parse(ends_at),
    summary: { object: 'offer', ...shown },
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
