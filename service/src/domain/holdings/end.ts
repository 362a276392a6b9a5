import { SOLANA_CHAIN_NAMES } from '../../kernel/chains.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { markEnding, releaseApprovals } from './end-store.ts';
import { changeStatus } from './participation-status.ts';
import { wakeSettlement } from './wake.ts';

type Parts = Pick<Context, 'clock' | 'random'>;

/**
 * Ends prepared and pending participations. On EVM chains, marks them as failed. On Solana, only marks them as ending:
 * nothing more is sent for them, and settlement marks them as failed later.
 *
 * The chains differ because a database restored from a backup may lack an on-chain commit that was already sent. On
 * Solana, such a commit may still land, and only settlement can tell when the commit can no longer land. On EVM chains,
 * the operator's nonce reveals the commit, and reconciliation records it in the failed row.
 */
export async function endParticipations(
  parts: Parts,
  tx: Db,
  ids: readonly string[],
  reason: string,
): Promise<void> {
  const marked = await markEnding(tx, ids, SOLANA_CHAIN_NAMES, reason);
  const markedIds = new Set(marked.map(({ id }) => id));
  await failParticipations(
    parts,
    tx,
    ids.filter((id) => !markedIds.has(id)),
    reason,
  );
  for (const chain of new Set(marked.map((row) => row.chain))) await wakeSettlement(tx, chain);
}

/**
 * Marks prepared and pending participations as failed. Call it only if no commit for them can succeed any more. Returns
 * how many changed.
 */
export async function failParticipations(
  parts: Parts,
  tx: Db,
  ids: readonly string[],
  reason: string,
): Promise<number> {
  await releaseApprovals(tx, ids);
  return changeStatus(parts, tx, { ids, from: ['prepared', 'pending'], to: 'failed', reason });
}
