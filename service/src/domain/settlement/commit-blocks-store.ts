import { sql } from 'kysely';
import { bytesToHex, type Hex } from 'viem';
import type { Db } from '../../platform/db/pool.ts';

/**
 * Returns the blocks in which these participations' commit transactions were mined. Leaves out commits that a
 * reorganization can no longer undo, and commits sent with the key `ownAddress`.
 */
export async function listCommitBlocks(
  db: Db,
  ids: readonly string[],
  ownAddress: string,
): Promise<{ id: string; number: bigint; hash: Hex }[]> {
  const { rows } = await sql<{ id: string; number: bigint; hash: Buffer }>`
    select p.id, t.block_number as number, t.block_hash as hash
    from participations p join operator_transactions t on t.id = p.commit_id
    where p.id = any(${ids}::uuid[]) and t.state = 'settled' and t.signer <> ${ownAddress}`.execute(db);
  return rows.map(({ id, number, hash }) => ({ id, number, hash: bytesToHex(hash) }));
}
