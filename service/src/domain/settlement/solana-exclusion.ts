import { readBlockhash, readEpoch } from '../../platform/chain/solana/reads.ts';
import { skipLanded } from './solana-landed.ts';
import type { SolanaParts } from './solana-parts.ts';
import type { SettlementRow } from './store.ts';

/**
 * For how many blocks a participation's entry in `expiries` is kept. A participation that is about to fail is checked
 * every few seconds, so an older entry belongs to a participation that has already settled or failed. Deleting an entry
 * too early only makes its participation wait longer.
 */
const KEPT_BLOCKS = 3_000n;
/**
 * How far a node may lag behind, in blocks. `keepExcluded` adds this to an expiry, because the blockhash that
 * determines the expiry may come from a lagging node.
 */
const MAX_LAG_BLOCKS = 50n;

/**
 * Returns the rows that may be marked as failed: they are not committed, and no signed transaction can still commit
 * them. If a row were marked earlier, a commit that lands later could take money for a failed row.
 *
 * A restored database may lack transactions that were signed before the restore. So each row waits until every
 * transaction that was signed before the first call with this row has expired.
 */
export async function keepExcluded(parts: SolanaParts, rows: SettlementRow[]): Promise<SettlementRow[]> {
  const { account, expiries } = parts;
  const known = rows.filter(({ id }) => expiries.has(id));
  const { height } = await readEpoch(account.chain);
  if (known.length < rows.length) {
    const { lastValidHeight } = await readBlockhash(account.chain, height);
    for (const { id } of rows)
      if (!expiries.has(id)) rememberExpiry(expiries, id, lastValidHeight + MAX_LAG_BLOCKS);
  }
  if (known.length === 0) return [];
  const expired = known.filter(({ id }) => height > (expiries.get(id) ?? height));
  const excluded = await skipLanded(parts, 'commit', expired);
  for (const { id } of excluded) expiries.delete(id);
  return excluded;
}

/**
 * Stores the block height after which no transaction signed so far can commit the row. Deletes old entries.
 */
export function rememberExpiry(expiries: Map<string, bigint>, id: string, height: bigint): void {
  for (const [each, expiry] of expiries) if (expiry + KEPT_BLOCKS < height) expiries.delete(each);
  expiries.set(id, height);
}
