import { type Selectable, sql } from 'kysely';
import type { Decision } from '../context/ports.ts';
import type { AuditFormerKeys } from '../db/audit-tables.ts';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Db } from '../db/pool.ts';

export type SealedEntry = { position: bigint; entry: string; leaf_hash: Buffer; chain_hash: Buffer };

export type Checkpoint = { size: bigint; note: string };
/** `tree` is true if the checkpoint contains the root of the tree, and false if it contains the chain hash. */
export type StoredCheckpoint = Checkpoint & { tree: boolean };

/** Takes the sealing lock and holds it until the transaction ends, so that only one sealer runs at a time. */
export async function lockSealing(tx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('audit sealing', 0))`.execute(tx);
}

/**
 * Returns whether there are entries to seal and whether a checkpoint is due. A checkpoint is due if entries were sealed
 * after the newest checkpoint and one of these conditions is met:
 * - No checkpoint exists yet.
 * - At least `batchSize` entries were sealed after the newest checkpoint.
 * - The newest checkpoint is at least one interval old.
 * - The newest checkpoint is dated at least one interval in the future, because the clock was set back.
 *
 * An idle sealer runs only this query, so the query must be cheap. `max(position)` takes one index lookup. A search for
 * positions after the newest checkpoint would scan the table.
 */
export async function findSealingWork(
  db: Db,
  checkpointIntervalS: number,
  batchSize: number,
): Promise<{ hasUnsealed: boolean; needsCheckpoint: boolean }> {
  const { rows } = await sql<{ has_unsealed: boolean; needs_checkpoint: boolean }>`
    select exists (select from audit_entries where position is null) as has_unsealed,
      last.size <> coalesce(newest.size, 0) and (newest.at is null or last.size - newest.size >= ${batchSize}
        or abs(extract(epoch from now() - newest.at)) >= ${checkpointIntervalS}) as needs_checkpoint
    from (select coalesce(max(position), 0) as size from audit_entries) as last
      left join (select size, at from audit_checkpoints where tree order by size desc limit 1) as newest on true`.execute(
    db,
  );
  return { hasUnsealed: rows[0]?.has_unsealed ?? false, needsCheckpoint: rows[0]?.needs_checkpoint ?? false };
}

export async function listUnsealedEntries(
  tx: Db,
  limit: number,
): Promise<{ written: bigint; entry: string }[]> {
  const { rows } = await sql<{ written: bigint; entry: string }>`select written, entry from audit_entries
    where position is null order by written limit ${limit}`.execute(tx);
  return rows;
}

export async function findLastSealed(db: Db): Promise<{ position: bigint; chain_hash: Buffer } | undefined> {
  const { rows } = await sql<{
    position: bigint;
    chain_hash: Buffer;
  }>`select position, chain_hash from audit_entries
    where position is not null order by position desc limit 1`.execute(db);
  return rows[0];
}

export type Seal = { written: bigint; position: bigint; leaf: Buffer; chain: Buffer };

export async function sealEntries(tx: Db, seals: readonly Seal[]): Promise<void> {
  await sql`update audit_entries a set position = s.position, leaf_hash = s.leaf, chain_hash = s.chain
    from unnest(${seals.map(({ written }) => written)}::bigint[], ${seals.map(({ position }) => position)}::bigint[],
      ${seals.map(({ leaf }) => leaf)}::bytea[], ${seals.map(({ chain }) => chain)}::bytea[])
      as s (written, position, leaf, chain)
    where a.written = s.written`.execute(tx);
}

export async function listSealedEntries(db: Db, after: bigint, limit: number): Promise<SealedEntry[]> {
  const { rows } = await sql<SealedEntry>`select position, entry, leaf_hash, chain_hash from audit_entries
    where position > ${after} order by position limit ${limit}`.execute(db);
  return rows;
}

/** Inserts a checkpoint of the tree, unless the tree already has a checkpoint of this size. */
export async function insertTreeCheckpoint(tx: Db, { size, note }: Checkpoint): Promise<void> {
  await sql`insert into audit_checkpoints (size, note, tree) values (${size}, ${note}, true) on conflict do nothing`.execute(
    tx,
  );
}

export async function findTreeCheckpoint(db: Db): Promise<Checkpoint | undefined> {
  const { rows } = await sql<Checkpoint>`select size, note from audit_checkpoints
    where tree order by size desc limit 1`.execute(db);
  return rows[0];
}

/**
 * Finds the checkpoint up to which entries can be deleted. Considers checkpoints after `start` that are older than
 * `before` and do not cover the whole log. Returns the newest one that covers at most `max` entries after `start`, or
 * the oldest one if all cover more.
 */
export async function findCheckpointBefore(
  db: Db,
  before: string,
  { start, max }: { start: bigint; max: number },
): Promise<StoredCheckpoint | undefined> {
  const condition = sql`at < ${before} and size > ${start} and size < (select max(position) from audit_entries)`;
  const near = await sql<StoredCheckpoint>`select size, note, tree from audit_checkpoints
    where ${condition} and size <= ${start} + ${max}::bigint order by size desc, tree desc limit 1`.execute(
    db,
  );
  if (near.rows[0] !== undefined) return near.rows[0];
  const next = await sql<StoredCheckpoint>`select size, note, tree from audit_checkpoints
    where ${condition} order by size, tree desc limit 1`.execute(db);
  return next.rows[0];
}

/**
 * Returns the checkpoint up to which entries were deleted, or undefined if no entry was deleted. The log begins after
 * this checkpoint.
 */
export async function findStart(db: Db): Promise<Checkpoint | undefined> {
  return db.selectFrom('audit_start').select(['size', 'note']).executeTakeFirst();
}

export async function putStart(tx: Db, { size, note }: Checkpoint): Promise<void> {
  await sql`insert into audit_start (size, note) values (${size}, ${note})
    on conflict (only_row) do update set size = excluded.size, note = excluded.note`.execute(tx);
}

/** Deletes, in batches, the first `size` entries with their reasons, and all checkpoints that cover fewer than `size` entries. */
export async function deleteBeforeStart(db: Db, size: bigint): Promise<void> {
  await deleteInBatches(
    db,
    'audit_reasons',
    sql`written in (select written from audit_entries where position <= ${size})`,
  );
  await deleteInBatches(db, 'audit_entries', sql`position <= ${size}`);
  await deleteInBatches(db, 'audit_checkpoints', sql`size < ${size}`);
}

/**
 * Returns the first `limit` checkpoints that cover more than `after` entries. Two checkpoints can have the same size.
 * If the limit falls between two such checkpoints, returns both.
 */
export async function listCheckpoints(db: Db, after: bigint, limit: number): Promise<StoredCheckpoint[]> {
  const { rows } = await sql<StoredCheckpoint>`select size, note, tree from audit_checkpoints
    where size > ${after} order by size fetch first ${limit} rows with ties`.execute(db);
  return rows;
}

export async function listFormerKeys(db: Db): Promise<Selectable<AuditFormerKeys>[]> {
  return db.selectFrom('audit_former_keys').selectAll().execute();
}

export async function putFormerKey(
  tx: Db,
  publicKey: Buffer,
  end: { size: bigint; hash: Buffer },
  tag: Buffer,
): Promise<void> {
  await sql`insert into audit_former_keys (public_key, size, chain_hash, tag)
    values (${publicKey}, ${end.size}, ${end.hash}, ${tag})
    on conflict (public_key) do update set size = excluded.size, chain_hash = excluded.chain_hash, tag = excluded.tag`.execute(
    tx,
  );
}

/** Records that a command ran. `command` is `Config.commandName`, in which `…` replaces most arguments. */
export async function insertCommandEntry(db: Db, command: string): Promise<void> {
  await sql`select audit('command.run', audit_object('command', null), audit_object('command', ${command}))`.execute(
    db,
  );
}

export async function setTransactionReason(tx: Db, reason: string): Promise<void> {
  await sql`select set_config('causeway.reason', ${reason}, true)`.execute(tx);
}

/** The hash in the entry is the SHA-256 of `salt` and `reason`. */
export type Reason = { salt: string; reason: string };

/** Returns the reasons of all sealed entries that have one, by position. */
export async function readReasons(db: Db): Promise<Map<bigint, Reason>> {
  const { rows } = await sql<Reason & { position: bigint }>`
    select e.position, r.salt, r.reason from audit_reasons r join audit_entries e using (written)
    where e.position is not null`.execute(db);
  return new Map(rows.map(({ position, ...reason }) => [position, reason]));
}

export async function insertFailedSignIn(db: Db, userId: string | null): Promise<void> {
  await sql`select audit('user.sign_in_failed', audit_object('anonymous', null), audit_object('user', ${userId}))`.execute(
    db,
  );
}

export async function insertDecisionEntry(
  db: Db,
  { actor, action, subject, reason, requestId }: Decision,
): Promise<void> {
  await sql`with request as materialized (select set_config('causeway.request_id', ${requestId ?? ''}, true))
    select audit(${action}, audit_object(${actor.object}, ${actor.id}), audit_object(${subject.object}, ${subject.id}), null,
      ${reason}) from request`.execute(db);
}
