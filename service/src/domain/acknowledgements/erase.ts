import type { Db } from '../../platform/db/pool.ts';
import { removeNetworks } from './store.ts';

/**
 * Removes the network from which the user sent each acknowledgement. Keeps the rest of each row as evidence of what the
 * user acknowledged and when. Once the account is erased, these rows contain no personal data.
 */
export async function eraseUser(tx: Db, userId: string): Promise<{ kept: string[] }> {
  const hasRows = await removeNetworks(tx, userId);
  return { kept: hasRows ? ['acknowledged documents: which version, and when; no personal data'] : [] };
}
