import { notConfigured } from '../outbound/failure.ts';
import type { DocumentProvider } from './documents.ts';

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
