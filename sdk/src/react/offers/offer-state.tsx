import { useEffect, useState } from 'react';
import type { Offer } from '../../wire.ts';
import { StatusBadge } from '../ui/elements.tsx';
import { OFFER_STATES, type OfferState, offerState } from '../ui/labels.ts';

type Window = Pick<Offer, 'starts_at' | 'ends_at'>;

/** Follows the offer over its beginning and its end while it is on screen. */
export function useOfferState(offer: Window): OfferState {
  const [now, setNow] = useState(() => Date.now());
  const { starts_at, ends_at } = offer;
  useEffect(() => {
    const next = [starts_at, ends_at].map((at) => (at === null ? 0 : Date.parse(at))).find((at) => at > now);
    if (next === undefined) return;
    // Timers cannot wait for longer than this.
    const timer = setTimeout(() => setNow(Date.now()), Math.min(next - Date.now() + 50, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  }, [starts_at, ends_at, now]);
  return offerState(offer, now);
}

export function OfferStateBadge({ offer }: { offer: Window }) {
  const [tone, words] = OFFER_STATES[useOfferState(offer)];
  return <StatusBadge tone={tone}>{words}</StatusBadge>;
}
