import { notConfigured } from '../outbound/failure.ts';
import type { DocumentProvider } from './documents.ts';
import type { IdentityProvider } from './identity.ts';
import type { Venue } from './venue.ts';

/** These providers refuse every call, for commands, tests and installations without them. */
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

/** For installations without tokenized swaps. */
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
