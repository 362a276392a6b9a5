import { notConfigured } from '../outbound/failure.ts';
import type { IdentityProvider } from './identity.ts';

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
