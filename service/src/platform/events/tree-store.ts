import { sql } from 'kysely';
import type { TreeNode } from '../audit/merkle.ts';
import type { Db } from '../db/pool.ts';
import type { EventRow } from './store.ts';

/** Locks the partner's tree until the transaction ends. Returns the size of the tree. */
export async function lockTree(tx: Db, partnerId: string): Promise<number> {
  await sql`insert into event_trees values (${partnerId}, 0) on conflict do nothing`.execute(tx);
  const { rows } = await sql<{ size: bigint }>`
    select size from event_trees where partner_id = ${partnerId} for update`.execute(tx);
  return Number(rows[0]?.size ?? 0n);
}

/** Reads a partner's events after a sequence number, including events that the partner may no longer read. */
export async function readLoggedEvents(
  tx: Db,
  partnerId: string,
  { after, limit }: { after: number; limit: number },
): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    select e.id, e.position, e.sequence, e.partner_id, e.user_id, e.type, e.data, e.changes, e.related, e.request_id,
      e.inserted_at, true as visible
    from events e where e.partner_id = ${partnerId} and e.sequence > ${after} order by e.sequence limit ${limit}`.execute(
    tx,
  );
  return rows;
}

export async function readNodes(
  db: Db,
  partnerId: string,
  wanted: readonly Pick<TreeNode, 'level' | 'index'>[],
): Promise<TreeNode[]> {
  const { rows } = await sql<{ level: number; index: bigint; hash: Buffer }>`
    select n.level, n.index, n.hash from event_tree_nodes n
      join unnest(${wanted.map(({ level }) => level)}::smallint[], ${wanted.map(({ index }) => index)}::bigint[])
        as w (level, index) on n.level = w.level and n.index = w.index
    where n.partner_id = ${partnerId}`.execute(db);
  return rows.map(({ level, index, hash }) => ({ level, index: Number(index), hash }));
}

export async function insertNodes(
  tx: Db,
  partnerId: string,
  nodes: readonly TreeNode[],
  size: number,
): Promise<void> {
  await sql`insert into event_tree_nodes (partner_id, level, index, hash)
    select ${partnerId}::uuid, level, index, hash from unnest(${nodes.map(({ level }) => level)}::smallint[],
      ${nodes.map(({ index }) => index)}::bigint[], ${nodes.map(({ hash }) => hash)}::bytea[]) as n (level, index, hash)`.execute(
    tx,
  );
  await sql`update event_trees set size = ${size} where partner_id = ${partnerId}`.execute(tx);
}

export async function readTreeSize(db: Db, partnerId: string): Promise<number> {
  const { rows } = await sql<{
    size: bigint;
  }>`select size from event_trees where partner_id = ${partnerId}`.execute(db);
  return Number(rows[0]?.size ?? 0n);
}

const PRUNE_BATCH_SIZE = 5_000;
/** The highest level that a tree can have. */
const MAX_LEVEL = 62;

/**
 * Deletes nodes that cover only expired events. On each level, keeps the last of these nodes, which is needed to append
 * leaves and to prove later events. Returns whether there may be more nodes to delete.
 */
export async function pruneNodes(db: Db): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from event_tree_nodes where ctid = any(array(
    select n.ctid from event_trees t
      cross join lateral (select least(t.size, coalesce(min(e.sequence) - 1, t.size)) as leaves from events e
        where e.partner_id = t.partner_id and e.sequence is not null) as expired
      cross join generate_series(0, ${MAX_LEVEL}::int) as depth
      join event_tree_nodes n on n.partner_id = t.partner_id and n.level = depth
        and n.index < (expired.leaves >> depth) - 1
    where (expired.leaves >> depth) > 1 limit ${PRUNE_BATCH_SIZE}))`.execute(db);
  return Number(numAffectedRows ?? 0n) === PRUNE_BATCH_SIZE;
}

/** Returns the partners with events that have not been added to the partner's tree yet. */
export async function listPartnersToHash(db: Db): Promise<string[]> {
  const { rows } = await sql<{ partner_id: string }>`
    select s.partner_id from partner_sequences s left join event_trees t on t.partner_id = s.partner_id
    where s.last > coalesce(t.size, 0)`.execute(db);
  return rows.map(({ partner_id }) => partner_id);
}
