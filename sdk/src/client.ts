import { type Events, eventsOf } from './events.ts';
import { type Documents, documentsOf, type Kyc, kycOf, type Pii, piiOf } from './identity.ts';
import { type Offers, offersOf } from './offers.ts';
import { type Participations, participationsOf } from './participations.ts';
import { type CausewayOptions, createSend, trimBaseUrl } from './request.ts';
import { type Requirements, requirementsOf } from './requirements.ts';
import { type Swap, swapOf, type Token, tokenOf } from './swap.ts';
import { type Tokenized, tokenizedOf } from './tokenized.ts';
import { type Wallets, walletsOf } from './wallets.ts';

/** The API client, with one member per resource. */
export type Causeway = {
  readonly baseUrl: string;
  readonly offers: Offers;
  readonly requirements: Requirements;
  readonly wallets: Wallets;
  readonly participations: Participations;
  readonly kyc: Kyc;
  readonly pii: Pii;
  readonly documents: Documents;
  readonly swap: Swap;
  readonly token: Token;
  readonly tokenized: Tokenized;
  readonly events: Events;
};

/**
 * Creates a client for the partner API. The client never exposes the access token, so the client is safe to log.
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 *
 * const causeway = createCauseway({
 *   baseUrl: 'http://127.0.0.1:8080',
 *   accessToken: () => 'the token of a signed-in user', // or browserToken(), in a page
 *   onCall: ({ method, path, status }) => console.debug(method, path, status),
 * });
 * console.log(causeway.baseUrl);
 * ```
 */
export function createCauseway(options: CausewayOptions): Causeway {
  const send = createSend(options);
  return {
    baseUrl: trimBaseUrl(options.baseUrl),
    offers: offersOf(send),
    requirements: requirementsOf(send),
    wallets: walletsOf(send),
    participations: participationsOf(send),
    kyc: kycOf(send),
    pii: piiOf(send),
    documents: documentsOf(send),
    swap: swapOf(send),
    token: tokenOf(send),
    tokenized: tokenizedOf(send),
    events: eventsOf(send, options),
  };
}
