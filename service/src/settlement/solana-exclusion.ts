import { readBlockhash, readEpoch } from '../chain/solana/reads.ts';
import { skipLanded } from './solana-landed.ts';
import type { SolanaParts } from './solana-parts.ts';
import type { SettlementRow } from './store.ts';

/** How far a node may lag and is still asked, in blocks. */
const MAX_LAG_BLOCKS = 50n;

/**
 * Returns whether no commit of the row has landed or can still land, signed by whomever. A database that was restored has
 * forgotten what it signed, so a row that is short fails only after everything signed until then has expired: its user could
 * approve again, and a forgotten commit would take the money of a failed row.
 */
export async function isCommitExcluded(parts: SolanaParts, row: SettlementRow): Promise<boolean> {
  const { account, expiries } = parts;
  const expiry = expiries.get(row.id);
  if (expiry === undefined) {
    const { lastValidHeight } = await readBlockhash(account.chain);
    expiries.set(row.id, lastValidHeight + MAX_LAG_BLOCKS);
    return false;
  }
  const { height } = await readEpoch(account.chain);
  if (height <= expiry) return false;
  if ((await skipLanded(parts, 'commit', [row])).length === 0) return false;
  expiries.delete(row.id);
  return true;
}
