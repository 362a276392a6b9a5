import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import { HASH_BYTES, TILE_WIDTH, type Tile, type TileId } from './tree.ts';

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

/** Appends hashes to tiles. Creates tiles that do not exist yet. */
export async function appendToTiles(tx: Db, tiles: readonly Tile[]): Promise<void> {
  await sql`insert into audit_tiles as t (level, index, hashes)
    select level, index, hashes from unnest(${tiles.map(({ level }) => level)}::smallint[],
      ${tiles.map(({ index }) => index)}::bigint[], ${tiles.map(({ hashes }) => hashes)}::bytea[]) as n (level, index, hashes)
    on conflict (level, index) do update set hashes = t.hashes || excluded.hashes`.execute(tx);
}

/** Returns a tile, together with the size of the newest checkpoint. */
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
