import type { Context } from '../../platform/context/context.ts';
import { SECRET_PURPOSE } from './endpoint.ts';
import { lockOutdatedSecrets, updateEndpoint } from './endpoint-store.ts';

/**
 * Reseals the signing secrets of all endpoints under the newest `CAUSEWAY_SECRET`. Returns how many endpoints it
 * changed.
 */
export async function resealEndpointSecrets({
  db,
  sealing,
}: Pick<Context, 'db' | 'sealing'>): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const rows = await lockOutdatedSecrets(tx, sealing.newestKeyId);
    for (const { id, sealed_secret, previous_sealed_secret } of rows) {
      const reseal = (sealed: Buffer) =>
        sealing.seal(SECRET_PURPOSE, sealing.open(SECRET_PURPOSE, sealed, id), id);
      await updateEndpoint(tx, id, {
        sealed_secret: reseal(sealed_secret),
        previous_sealed_secret: previous_sealed_secret === null ? null : reseal(previous_sealed_secret),
      });
    }
    return rows.length;
  });
}
