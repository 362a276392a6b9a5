import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import type { Kernel } from '../../platform/context/kernel.ts';
import type { Catalogue, Offer, PartnerOffers } from '../../platform/context/ports.ts';
import { createNotifiedCache } from '../../platform/db/notified-cache.ts';
import { listPublished } from './store.ts';

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
