import { UpstreamFailure, upstreamError } from '../outbound/upstream.ts';
import type { DocumentProvider } from './provider.ts';

/** For commands and tools that run without a signing provider: everything asked of it is unavailable. */
export function noDocumentProvider(): DocumentProvider {
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
