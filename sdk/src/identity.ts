import type { RequestOptions, Send } from './request.ts';
import type { DocumentSubmission, KycToken, NewDocumentSubmission, NewKycToken, UserPii } from './wire.ts';

export type Kyc = {
  /** A short-lived token for the identity provider's web SDK. Never send `reset` to renew one in the middle of the flow. */
  token(body?: NewKycToken, options?: RequestOptions): Promise<KycToken>;
};

export type Pii = {
  /** What is known of the user; unknown members are null. */
  get(options?: RequestOptions): Promise<UserPii>;
};

export type Documents = {
  /** Sends the user a form to sign, filled with these fields; again is a resend where that is possible. */
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
