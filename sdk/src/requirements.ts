import type { RequestOptions, Send } from './request.ts';
import type { KycLevel, OfferRequirements, RequirementStatus, RequirementStatuses } from './wire.ts';

export type Requirements = {
  /** What each option of the offer asks of a user. */
  list(offerId: string, options?: RequestOptions): Promise<OfferRequirements>;
  /** How far the user is with each; see `describeStatus`. */
  statuses(offerId: string, options?: RequestOptions): Promise<RequirementStatuses>;
};

export function requirementsOf(send: Send): Requirements {
  const path = (offerId: string) => `/v1/offers/${encodeURIComponent(offerId)}/requirements`;
  return {
    list: (offerId, options) => send({ method: 'GET', path: path(offerId) }, options),
    statuses: (offerId, options) => send({ method: 'GET', path: `${path(offerId)}/statuses` }, options),
  };
}

export type StatusWord = Extract<RequirementStatus, string>;
export type DescribedStatus = {
  status: StatusWord;
  action?: 'kyc_not_verified' | 'update_pii_data' | undefined;
  kyc_level?: KycLevel | undefined;
  kyc_reset?: boolean | undefined;
};

/**
 * The two forms of a status as one; a requirement that is not in the map has not been started.
 *
 * @example
 * ```ts
 * import { describeStatus } from '@causeway/sdk';
 *
 * const offer = await causeway.offers.get('harbour-quarter');
 * const { statuses } = await causeway.requirements.statuses(offer.id);
 * for (const [id, status] of Object.entries(statuses)) {
 *   const { status: word, action } = describeStatus(status);
 *   console.log(id, word, action ?? '');
 * }
 * ```
 */
export function describeStatus(status: RequirementStatus | undefined): DescribedStatus {
  if (status === undefined) return { status: 'not_started' };
  return typeof status === 'string' ? { status } : status;
}
