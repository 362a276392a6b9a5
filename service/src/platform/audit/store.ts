import { type RawBuilder, sql } from 'kysely';
import type { Decision } from '../context/ports.ts';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Db } from '../db/pool.ts';
import type { Checkpoint, FormerKey, StoredCheckpoint } from './checkpoint.ts';
import { HASH_BYTES, TILE_WIDTH, type Tile, type TileId } from './tree.ts';

export type SealedEntry = { position: number; entry: string };

export async function lockSealing(tx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('audit sealing', 0))`.execute(tx);
}

/**
 * If there are entries to seal and no checkpoint, at least `batchSize` entries, or a newest checkpoint that is at
 * least one interval old or dated as far in the future, because the clock was set back. An idle sealer runs only this
 * query, so it must be cheap.
 */
export async function isSealingDue(db: Db, checkpointIntervalS: number, batchSize: number): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select exists (select from audit_entries where position is null) and (
      exists (select from audit_entries where position is null offset ${batchSize - 1})
      or coalesce((select abs(extract(epoch from now() - at)) >= ${checkpointIntervalS} from audit_checkpoints
        order by size desc limit 1), true)) as due`.execute(db);
  return rows[0]?.due ?? false;
}

/** Gives the next positions after `size` to at most `limit` entries, in the order in which they were written. */
export async function placeEntries(tx: Db, size: number, limit: number): Promise<void> {
  await sql`update audit_entries a
    set position = greatest(${size}::bigint, (select max(position) from audit_entries)) + unplaced.n
    from (select written, row_number() over (order by written) as n from audit_entries
      where position is null order by written limit ${limit}) as unplaced
    where a.written = unplaced.written`.execute(tx);
}

export async function listSealedEntries(db: Db, after: number, limit: number): Promise<SealedEntry[]> {
  const { rows } = await sql<{ position: bigint; entry: string }>`select position, entry from audit_entries
    where position > ${after} order by position limit ${limit}`.execute(db);
  return rows.map(({ position, entry }) => ({ position: Number(position), entry }));
}

export async function insertCheckpoint(tx: Db, { size, note }: StoredCheckpoint): Promise<void> {
  await sql`insert into audit_checkpoints (size, note) values (${size}, ${note})`.execute(tx);
}

export async function findNewestCheckpoint(db: Db): Promise<StoredCheckpoint | undefined> {
  return findCheckpoint(db, sql`true order by size desc`);
}

/**
 * Among the checkpoints after `start` that are older than `before`: the newest one that covers at most `max` more
 * entries, or the oldest if all cover more.
 */
export async function findCheckpointBefore(
  db: Db,
  before: string,
  { start, max }: { start: number; max: number },
): Promise<StoredCheckpoint | undefined> {
  const condition = sql`at < ${before} and size > ${start}`;
  return (
    (await findCheckpoint(db, sql`${condition} and size <= ${start + max} order by size desc`)) ??
    (await findCheckpoint(db, sql`${condition} order by size`))
  );
}

async function findCheckpoint(db: Db, where: RawBuilder<unknown>): Promise<StoredCheckpoint | undefined> {
  const { rows } = await sql<{ size: bigint; note: string }>`
    select size, note from audit_checkpoints where ${where} limit 1`.execute(db);
  return rows[0] && { size: Number(rows[0].size), note: rows[0].note };
}

export async function listCheckpoints(db: Db, after: number, limit: number): Promise<StoredCheckpoint[]> {
  const { rows } = await sql<{ size: bigint; note: string }>`select size, note from audit_checkpoints
    where size > ${after} order by size limit ${limit}`.execute(db);
  return rows.map(({ size, note }) => ({ size: Number(size), note }));
}

export async function findStart(db: Db): Promise<(Checkpoint & { tag: Buffer }) | undefined> {
  const row = await db.selectFrom('audit_start').select(['size', 'root_hash', 'tag']).executeTakeFirst();
  return row && { size: Number(row.size), hash: row.root_hash, tag: row.tag };
}

export async function putStart(tx: Db, { size, hash }: Checkpoint, tag: Buffer): Promise<void> {
  await sql`insert into audit_start (size, root_hash, tag) values (${size}, ${hash}, ${tag})
    on conflict (only_row) do update set size = excluded.size, root_hash = excluded.root_hash, tag = excluded.tag`.execute(
    tx,
  );
}

/** Deletes, in batches, the first `size` entries with their reasons, and all checkpoints of fewer entries. */
export async function deleteBeforeStart(db: Db, size: number): Promise<void> {
  await deleteInBatches(
    db,
    'audit_reasons',
    sql`written in (select written from audit_entries where position <= ${size})`,
  );
  await deleteInBatches(db, 'audit_entries', sql`position <= ${size}`);
  await deleteInBatches(db, 'audit_checkpoints', sql`size < ${size}`);
}

export async function listFormerKeys(db: Db): Promise<(FormerKey & { tag: Buffer })[]> {
  const rows = await db.selectFrom('audit_former_keys').selectAll().execute();
  return rows.map(({ public_key, size, root_hash, tag }) => ({
    ...{ publicKey: public_key, end: { size: Number(size), hash: root_hash }, tag },
  }));
}

export async function putFormerKey(tx: Db, { publicKey, end }: FormerKey, tag: Buffer): Promise<void> {
  await sql`insert into audit_former_keys (public_key, size, root_hash, tag)
    values (${publicKey}, ${end.size}, ${end.hash}, ${tag})
    on conflict (public_key) do update set size = excluded.size, root_hash = excluded.root_hash, tag = excluded.tag`.execute(
    tx,
  );
}

export async function recordCommand(db: Db, command: string): Promise<void> {
  await sql`select audit('command.run', audit_object('command', null), audit_object('command', ${command}))`.execute(
    db,
  );
}

/** Triggers store it with the entries that record an erasure, a closed offer or a disabled partner. */
export async function setReason(tx: Db, reason: string): Promise<void> {
  await sql`select set_config('causeway.reason', ${reason}, true)`.execute(tx);
}

type Reason = { salt: string; reason: string };

export async function readReasons(db: Db): Promise<Map<number, Reason>> {
  const { rows } = await sql<Reason & { position: bigint }>`
    select e.position, r.salt, r.reason from audit_reasons r join audit_entries e using (written)
    where e.position is not null`.execute(db);
  return new Map(rows.map(({ position, ...reason }) => [Number(position), reason]));
}

/** Records a failed sign-in: a wrong password, passkey or code. The user is null if the account is unknown. */
export async function recordFailedSignIn(db: Db, userId: string | null): Promise<void> {
  // Uses a transaction, because only transactions are tagged with the request that they belong to.
  await db
    .transaction()
    .execute((tx) =>
      sql`select audit('user.sign_in_failed', audit_object('anonymous', null), audit_object('user', ${userId}))`.execute(
        tx,
      ),
    );
}

/** For what triggers cannot record: a decision that changes no row, or code that does not know the request. */
export async function recordDecision(
  db: Db,
  { actor, action, subject, reason, requestId }: Decision,
): Promise<void> {
  await sql`with request as materialized (select set_config('causeway.request_id', ${requestId ?? ''}, true))
    select audit(${action}, audit_object(${actor.object}, ${actor.id}), audit_object(${subject.object}, ${subject.id}), null,
      ${reason}) from request`.execute(db);
}

/** A tree of 2^53 leaves has tiles at this many levels. */
const LEVELS = 7;

/** Returns how many hashes the tiles of each level have, calculated from the last tile of the level. */
export async function countTileHashes(db: Db): Promise<number[]> {
  const { rows } = await sql<{ index: bigint | null; bytes: number }>`
    select last.index, octet_length(last.hashes) as bytes from generate_series(0, ${LEVELS - 1}::int) as each
      left join lateral (select index, hashes from audit_tiles where level = each order by index desc limit 1)
        as last on true order by each`.execute(db);
  return rows.map(({ index, bytes }) =>
    index === null ? 0 : Number(index) * TILE_WIDTH + bytes / HASH_BYTES,
  );
}

export async function readTiles(db: Db, wanted: readonly TileId[]): Promise<Tile[]> {
  const { rows } = await sql<{ level: number; index: bigint; hashes: Buffer }>`
    select t.level, t.index, t.hashes from audit_tiles t
      join unnest(${wanted.map(({ level }) => level)}::smallint[], ${wanted.map(({ index }) => index)}::bigint[])
        as w (level, index) on t.level = w.level and t.index = w.index`.execute(db);
  return rows.map(({ level, index, hashes }) => ({ level, index: Number(index), hashes }));
}

export async function appendToTiles(tx: Db, tiles: readonly Tile[]): Promise<void> {
  await sql`insert into audit_tiles as t (level, index, hashes)
    select level, index, hashes from unnest(${tiles.map(({ level }) => level)}::smallint[],
      ${tiles.map(({ index }) => index)}::bigint[], ${tiles.map(({ hashes }) => hashes)}::bytea[]) as n (level, index, hashes)
    on conflict (level, index) do update set hashes = t.hashes || excluded.hashes`.execute(tx);
}

export async function findTile(
  db: Db,
  { level, index }: TileId,
): Promise<{ hashes: Buffer; size: number } | undefined> {
  const { rows } = await sql<{ hashes: Buffer; size: bigint | null }>`select hashes,
      (select size from audit_checkpoints order by size desc limit 1) as size
    from audit_tiles where level = ${level} and index = ${index}`.execute(db);
  const [row] = rows;
  return row && { hashes: row.hashes, size: Number(row.size ?? 0n) };
}

export async function findBlindingKey(db: Db): Promise<Buffer> {
  const { key } = await db.selectFrom('audit_blinding').select('key').executeTakeFirstOrThrow();
  return key;
}
