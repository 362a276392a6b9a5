import type { ReactNode } from 'react';
import type { Offer } from '../wire.ts';
export type OffersGridProps = {
  /** Where a card leads. */
  hrefOf?: ((offer: Offer) => string) | undefined;
  /** Instead of following the link, for routers. */
  onOpen?: ((offer: Offer) => void) | undefined;
  /** Only offers of this type. */
  type?: Offer['type'] | undefined;
  /** Shown when there are none. */
  empty?: ReactNode;
};
export function OffersGrid(_props: OffersGridProps) {
  return <div className="cw" />;
}
