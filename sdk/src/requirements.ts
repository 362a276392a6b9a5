import { listPages, type PageQuery, type Pages } from './paging.ts';
import type { RequestOptions, Send } from './request.ts';
import type {
  Acknowledgement,
  KycLevel,
  NewAcknowledgement,
  OfferRequirements,
  RequirementStatus,
  RequirementStatuses,
} from './wire.ts';

export type Requirements = {
  /** Lists the requirements of each of the offer's options. */
  list(offerId: string, options?: RequestOptions): Promise<OfferRequirements>;
  /** Returns the user's status for each requirement; see `describeStatus`. */
  statuses(offerId: string, options?: RequestOptions): Promise<RequirementStatuses>;
  /** Records that the user has read a document. Pass the `details` of its `acknowledgement` requirement. */
  acknowledge(
    offerId: string,
    document: NewAcknowledgement,
    options?: RequestOptions,
  ): Promise<Acknowledgement>;
  /** Lists the document versions that the user has acknowledged for the offer. */
  acknowledgements(offerId: string, query?: PageQuery, options?: RequestOptions): Pages<Acknowledgement>;
};

export function requirementsOf(send: Send): Requirements {
  const path = (offerId: string, name: string) => `/v1/offers/${encodeURIComponent(offerId)}/${name}`;
  return {
    list: (offerId, options) => send({ method: 'GET', path: path(offerId, 'requirements') }, options),
    statuses: (offerId, options) =>
      send({ method: 'GET', path: path(offerId, 'requirements/statuses') }, options),
    acknowledge: (offerId, { document, version, sha256 }, options) =>
      send(
        { method: 'POST', path: path(offerId, 'acknowledgements'), body: { document, version, sha256 } },
        options,
      ),
    acknowledgements: (offerId, query = {}, options) =>
      listPages(query, (pageQuery) =>
        send({ method: 'GET', path: path(offerId, 'acknowledgements'), query: pageQuery }, options),
      ),
  };
}

export type RequirementState = Extract<RequirementStatus, string>;
export type DescribedStatus = {
  status: RequirementState;
  action?: 'kyc_not_verified' | 'update_pii_data' | undefined;
  kyc_level?: KycLevel | undefined;
  kyc_reset?: boolean | undefined;
};

/**
 * Returns a requirement status as an object, whether the service returned a string or an object. A requirement without
 * a status is `not_started`.
 *
 * @example
 * ```ts
 * import { describeStatus } from '@causeway/sdk';
 *
 * const offer = await causeway.offers.get('harbour-quarter');
 * const { statuses } = await causeway.requirements.statuses(offer.id);
 * for (const [id, status] of Object.entries(statuses)) {
 *   const { status: state, action } = describeStatus(status);
 *   console.log(id, state, action ?? '');
 * }
 * ```
 */
export function describeStatus(status: RequirementStatus | undefined): DescribedStatus {
  if (status === undefined) return { status: 'not_started' };
  return typeof status === 'string' ? { status } : status;
}
