import { readBlockhash, readEpoch } from '../chain/solana/reads.ts';
import { skipLanded } from './solana-landed.ts';
import type { SolanaParts } from './solana-parts.ts';
import type { SettlementRow } from './store.ts';

/**
 * For how many blocks the expiry of a row is kept. Rows that are still short of funds are checked again
 * within seconds, so older entries belong to rows that have settled or failed. A row whose entry was deleted
 * too early only waits longer.
 */
const KEPT_BLOCKS = 3_000n;
/**
 * Added to the expiry, because the blockhash may come from a node that lags behind by up to this many blocks.
 */
const MAX_LAG_BLOCKS = 50n;

/**
 * Returns true once no commit of the row can land any more and none has landed, by any key. A restored database may
 * have forgotten transactions that it signed, so a row that is short of funds fails only after all of those have
 * expired. Otherwise the user could approve again, and a forgotten commit would take money for a failed row.
 */
export async function isCommitExcluded(parts: SolanaParts, row: SettlementRow): Promise<boolean> {
  const { account, expiries } = parts;
  const expiry = expiries.get(row.id);
  if (expiry === undefined) {
    const { lastValidHeight } = await readBlockhash(account.chain);
    rememberExpiry(expiries, row.id, lastValidHeight + MAX_LAG_BLOCKS);
    return false;
  }
  const { height } = await readEpoch(account.chain);
  if (height <= expiry) return false;
  if ((await skipLanded(parts, 'commit', [row])).length === 0) return false;
  expiries.delete(row.id);
  return true;
}

/**
 * Stores the block height after which no transaction signed so far can commit the row. Deletes old entries.
 */
export function rememberExpiry(expiries: Map<string, bigint>, id: string, height: bigint): void {
  for (const [each, expiry] of expiries) if (expiry + KEPT_BLOCKS < height) expiries.delete(each);
  expiries.set(id, height);
}
