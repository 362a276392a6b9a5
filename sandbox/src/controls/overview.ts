import { publicRoute } from '@causeway/service/http/route.ts';
import Type from 'typebox';

/** `GET /sandbox`: everything a script needs to use this sandbox, in one object. */
export function overviewRoute(overview: () => Promise<Record<string, unknown>>) {
  return publicRoute({
    method: 'GET',
    path: '/sandbox',
    operationId: 'getSandbox',
    summary: 'Get the addresses, credentials and seeded data of this sandbox',
    reply: Type.Object({}, { additionalProperties: true }),
    handle: async () => ({ object: 'sandbox', ...(await overview()) }),
  });
}
