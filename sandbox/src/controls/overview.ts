import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type from 'typebox';

/** The route `GET /sandbox`. It returns everything that a script needs to use this sandbox. */
export function overviewRoute(overview: () => Promise<Record<string, unknown>>) {
  return publicRoute({
    method: 'GET',
    path: '/sandbox',
    operationId: 'getSandbox',
    summary: "Get this sandbox's addresses, credentials and seeded data",
    reply: Type.Object({}, { additionalProperties: true }),
    handle: async () => ({ object: 'sandbox', ...(await overview()) }),
  });
}
