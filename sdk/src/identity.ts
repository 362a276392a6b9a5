import type { RequestOptions, Send } from './request.ts';
import type { DocumentSubmission, KycToken, NewDocumentSubmission, NewKycToken, UserPii } from './wire.ts';

export type Kyc = {
  /**
   * Issues a short-lived token for the identity provider's web SDK. Send `reset` only to start over, never to
   * renew a token during the flow.
   */
  token(body?: NewKycToken, options?: RequestOptions): Promise<KycToken>;
};

export type Pii = {
  /** Returns the user's personal data. Fields that are not known yet are null. */
  get(options?: RequestOptions): Promise<UserPii>;
};

export type Documents = {
  /** Emails the user a form to sign, prefilled with `fields`. If the latest form is still open, resends its link. */
  submit(
    documentType: 'tax_certification',
    fields: NewDocumentSubmission,
    options?: RequestOptions,
  ): Promise<DocumentSubmission>;
};

export function kycOf(send: Send): Kyc {
  return {
    token: (body = {}, options) => send({ method: 'POST', path: '/v1/kyc-token', body }, options),
  };
}

export function piiOf(send: Send): Pii {
  return { get: (options) => send({ method: 'GET', path: '/v1/pii' }, options) };
}

export function documentsOf(send: Send): Documents {
  return {
    submit: (type, body, options) =>
      send({ method: 'POST', path: `/v1/documents/${encodeURIComponent(type)}/submission`, body }, options),
  };
}
