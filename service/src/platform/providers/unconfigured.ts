import { notConfigured } from '../outbound/failure.ts';
import type { DocumentProvider } from './documents.ts';
import type { IdentityProvider } from './identity.ts';
import type { Venue } from './venue.ts';

/** Returns a provider that refuses every call. Used by commands and tests that run without a document provider. */
export function unconfiguredDocuments(): DocumentProvider {
  const refuse = async (): Promise<never> => {
    throw notConfigured('documents', 'DOCUSEAL_URL');
  };
  return {
    create: refuse,
    find: refuse,
    read: refuse,
    resend: refuse,
    archive: refuse,
    readWebhook: () => {
      throw notConfigured('documents', 'DOCUSEAL_URL');
    },
    close: async () => {},
  };
}

/** Returns a provider that refuses every call, for commands and tests that run without a provider. */
export function unconfiguredIdentity(): IdentityProvider {
  const refuse = async (): Promise<never> => {
    throw notConfigured('identity', 'SUMSUB_APP_TOKEN');
  };
  return {
    isSandbox: false,
    createToken: refuse,
    findApplicant: refuse,
    resetApplicant: refuse,
    moveToLevel: refuse,
    readWebhook: () => {
      throw notConfigured('identity', 'SUMSUB_APP_TOKEN');
    },
    close: async () => {},
  };
}

/** Returns a venue that refuses every call, for installations without tokenized swaps. */
export function unconfiguredVenue(): Venue {
  const refuse = async (): Promise<never> => {
    throw notConfigured('venue', 'ONDO_API_KEY');
  };
  return {
    quote: refuse,
    attest: refuse,
    tradingLimits: refuse,
    sessionLimits: refuse,
    marketState: refuse,
    assetPauses: refuse,
    decimals: refuse,
    close: async () => {},
  };
}
