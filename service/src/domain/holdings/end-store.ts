import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

/**
 * Releases the approvals of prepared participations that are about to fail, so that other participations can use these
 * approvals.
 */
export async function releaseApprovals(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update participations set holds_approval = false
    where id = any(${ids}::uuid[]) and status = 'prepared'`.execute(tx);
}

/**
 * Asks settlement to mark each of these participations as failed as soon as no on-chain commit of that participation
 * can succeed any more. Applies only to prepared and pending participations on these chains. Returns the affected
 * participations.
 */
export async function markEnding(
  tx: Db,
  ids: readonly string[],
  chains: readonly string[],
  reason: string,
): Promise<{ id: string; chain: string }[]> {
  const { rows } = await sql<{ id: string; chain: string }>`
    update participations set ending_reason = coalesce(ending_reason, ${reason}), check_at = now()
    where id = any(${ids}::uuid[]) and chain = any(${chains}) and status in ('prepared', 'pending')
    returning id, chain`.execute(tx);
  return rows;
}
