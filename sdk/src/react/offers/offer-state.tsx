import { useEffect, useState } from 'react';
import type { Offer } from '../../wire.ts';
import { StatusBadge } from '../ui/elements.tsx';
import { OFFER_STATE_LABELS } from '../ui/labels.ts';
import { useUi } from '../ui/ui.tsx';

type Schedule = Pick<Offer, 'starts_at' | 'ends_at'>;
export type OfferState = 'upcoming' | 'open' | 'ended';
/** The longest delay a timer accepts. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Returns whether an offer is upcoming, open or ended.
 *
 * @example
 * ```ts
 * import { offerState } from '@causeway/sdk/react';
 *
 * console.log(offerState({ starts_at: null, ends_at: '2020-01-01T00:00:00.000000Z' }));
 * ```
 */
export function offerState({ starts_at, ends_at }: Schedule, now: number = Date.now()): OfferState {
  if (starts_at !== null && now < Date.parse(starts_at)) return 'upcoming';
  return ends_at !== null && now >= Date.parse(ends_at) ? 'ended' : 'open';
}

/** Returns the offer's state and updates it when the offer opens or ends. */
export function useOfferState(offer: Schedule): OfferState {
  const [now, setNow] = useState(() => Date.now());
  const { starts_at, ends_at } = offer;
  useEffect(() => {
    const next = [starts_at, ends_at].map((at) => (at === null ? 0 : Date.parse(at))).find((at) => at > now);
    if (next === undefined) return;
    const timer = setTimeout(() => setNow(Date.now()), Math.min(next - Date.now() + 50, MAX_TIMEOUT_MS));
    return () => clearTimeout(timer);
  }, [starts_at, ends_at, now]);
  return offerState(offer, now);
}

export function OfferStateBadge({ offer }: { offer: Schedule & Pick<Offer, 'type'> }) {
  const { t } = useUi();
  const state = useOfferState(offer);
  // An open tokenized offer gets no badge, because "open" would be misleading while the asset's market is closed.
  if (state === 'open' && offer.type === 'tokenized::swap') return null;
  const [tone, label] = OFFER_STATE_LABELS[state];
  return <StatusBadge tone={tone}>{t(label)}</StatusBadge>;
}
