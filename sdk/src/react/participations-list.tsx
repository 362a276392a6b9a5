import type { ReactNode } from 'react';
import type { ParticipationFilter } from '../participations.ts';
export type ParticipationsListProps = {
  filters?: readonly ParticipationFilter[] | undefined;
  /** Where the offer of a participation is. */
  hrefOf?: ((offerId: string) => string) | undefined;
  empty?: ReactNode;
};
export function ParticipationsList(_props: ParticipationsListProps) {
  return <section className="cw" />;
}
