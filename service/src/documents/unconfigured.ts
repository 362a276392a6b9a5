import { UpstreamFailure, upstreamError } from '../outbound.ts';
import type { SigningProvider } from './provider.ts';

/** For commands and tools that run without a signing provider: everything asked of it is unavailable. */
export function noSigningProvider(): SigningProvider {
  const refuse = async (): Promise<never> => {
    throw upstreamError('documents', new UpstreamFailure('refused', 'none is configured'));
  };
  return {
    create: refuse,
    find: refuse,
    read: refuse,
    resend: refuse,
    archive: refuse,
    readWebhook: () => {
      throw upstreamError('documents', new UpstreamFailure('refused', 'none is configured'));
    },
    close: async () => {},
  };
}
