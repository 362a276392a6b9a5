import { UpstreamFailure, upstreamError } from '../outbound/upstream.ts';
import type { IdentityProvider } from './provider.ts';

/** For commands and tools that run without an identity provider: everything asked of it is unavailable. */
export function noIdentityProvider(): IdentityProvider {
  const refuse = async (): Promise<never> => {
    throw upstreamError('identity', new UpstreamFailure('refused', 'none is configured'));
  };
  return {
    isSandbox: false,
    mintToken: refuse,
    findApplicant: refuse,
    resetApplicant: refuse,
    readWebhook: () => {
      throw upstreamError('identity', new UpstreamFailure('refused', 'none is configured'));
    },
    close: async () => {},
  };
}
