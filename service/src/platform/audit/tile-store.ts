import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import { HASH_BYTES, TILE_WIDTH, type Tile, type TileId } from './tree.ts';

/** Returns the number of leaves in the tree, calculated from the last tile. */
export async function readTreeSize(db: Db): Promise<number> {
  const { rows } = await sql<{ index: bigint; bytes: number }>`
    select index, octet_length(hashes) as bytes from audit_tiles where level = 0 order by index desc limit 1`.execute(
    db,
  );
  const [last] = rows;
  return last === undefined ? 0 : Number(last.index) * TILE_WIDTH + last.bytes / HASH_BYTES;
}

export async function readTiles(db: Db, wanted: readonly TileId[]): Promise<Tile[]> {
  const { rows } = await sql<{ level: number; index: bigint; hashes: Buffer }>`
    select t.level, t.index, t.hashes from audit_tiles t
      join unnest(${wanted.map(({ level }) => level)}::smallint[], ${wanted.map(({ index }) => index)}::bigint[])
        as w (level, index) on t.level = w.level and t.index = w.index`.execute(db);
  return rows.map(({ level, index, hashes }) => ({ level, index: Number(index), hashes }));
}

/** Appends hashes to tiles. Creates tiles that do not exist yet. */
export async function appendToTiles(tx: Db, tiles: readonly Tile[]): Promise<void> {
  await sql`insert into audit_tiles as t (level, index, hashes)
    select level, index, hashes from unnest(${tiles.map(({ level }) => level)}::smallint[],
      ${tiles.map(({ index }) => index)}::bigint[], ${tiles.map(({ hashes }) => hashes)}::bytea[]) as n (level, index, hashes)
    on conflict (level, index) do update set hashes = t.hashes || excluded.hashes`.execute(tx);
}

/** Returns a tile, together with the size of the newest published checkpoint of the tree. */
export async function findTile(
  db: Db,
  { level, index }: TileId,
): Promise<{ hashes: Buffer; size: number } | undefined> {
  const { rows } = await sql<{ hashes: Buffer; size: bigint | null }>`select hashes,
      (select size from audit_checkpoints where tree order by size desc limit 1) as size
    from audit_tiles where level = ${level} and index = ${index}`.execute(db);
  const [row] = rows;
  return row && { hashes: row.hashes, size: Number(row.size ?? 0n) };
}

export async function findBlindingKey(db: Db): Promise<Buffer> {
  const { key } = await db.selectFrom('audit_blinding').select('key').executeTakeFirstOrThrow();
  return key;
}

/** Returns the hashes of the entries after a position. */
export async function listLeafHashes(
  tx: Db,
  after: bigint,
  limit: number,
): Promise<{ position: bigint; leaf_hash: Buffer }[]> {
  const { rows } = await sql<{ position: bigint; leaf_hash: Buffer }>`
    select position, leaf_hash from audit_entries where position > ${after} order by position limit ${limit}`.execute(
    tx,
  );
  return rows;
}
