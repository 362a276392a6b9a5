import { readBlocks } from '../../platform/chain/evm/node-reads.ts';
import { listCommitBlocks } from './commit-blocks-store.ts';
import type { EvmParts, EvmRow } from './evm-parts.ts';
import { postponeRows } from './store.ts';

const UNDONE_COMMIT_DELAY_SECONDS = 15;

/**
 * Postpones the rows whose commit was undone by a reorganization, and returns the others. Checks only commits sent with
 * other keys, because the workers of those keys may not have noticed the reorganization yet. The commits sent with this
 * worker's own key were already checked in this round.
 */
export async function keepOnChain({ ctx, account }: EvmParts, rows: EvmRow[]): Promise<EvmRow[]> {
  const ids = rows.map(({ id }) => id);
  const commits = await listCommitBlocks(ctx.db, ids, account.signer.address);
  if (commits.length === 0) return rows;
  const blocks = await readBlocks(
    account.chain,
    commits.map(({ number }) => number),
  );
  const undone = commits.flatMap(({ id, hash }, i) => (blocks[i]?.hash === hash ? [] : [id]));
  if (undone.length > 0) await postponeRows(ctx.db, undone, UNDONE_COMMIT_DELAY_SECONDS);
  return rows.filter(({ id }) => !undone.includes(id));
}
