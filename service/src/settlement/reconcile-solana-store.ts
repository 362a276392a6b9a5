import { base58 } from '@scure/base';
import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import { SETTLEMENT_COLUMNS, type SettlementRow, type StoredRow, toSettlementRow } from './store.ts';

/** A transaction as the database records it. `raws` are the signed bytes of its attempts. */
export type BookedReceipt = {
  state: string;
  signer: string;
  isClosed: boolean;
  slot: bigint | null;
  hash: string | null;
  raws: Buffer[];
};

export type BookedSolanaRow = SettlementRow & {
  slug: string;
  committed: boolean | null;
  commit: BookedReceipt | null;
  remit: BookedReceipt | null;
};

type StoredReceipt = {
  state: string;
  signer: string;
  closed: boolean;
  slot: string | null;
  hash: string | null;
  raws: string[] | null;
};

/** Returns rows of a cluster with their transactions, oldest first. If `ids` is given, only those rows. */
export async function listSolanaRows(
  db: Db,
  chain: string,
  ids: readonly string[] | null = null,
): Promise<BookedSolanaRow[]> {
  const receipt = (
    alias: 'c' | 'r',
  ) => sql`case when ${sql.ref(`${alias}.id`)} is not null then json_build_object(
    'state', ${sql.ref(`${alias}.state`)}, 'signer', ${sql.ref(`${alias}.signer`)},
    'closed', ${sql.ref(`${alias}.receipt_closed_at`)} is not null, 'slot', ${sql.ref(`${alias}.block_number`)}::text,
    'hash', encode(${sql.ref(`${alias}.mined_hash`)}, 'hex'),
    'raws', (select json_agg(encode(a.raw, 'hex')) from operator_attempts a
      where a.transaction_id = ${sql.ref(`${alias}.id`)})) end`;
  const { rows } = await sql<
    StoredRow & {
      slug: string;
      committed: boolean | null;
      commit: StoredReceipt | null;
      remit: StoredReceipt | null;
    }
  >`
    select ${SETTLEMENT_COLUMNS}, o.slug, p.committed, ${receipt('c')} as commit, ${receipt('r')} as remit
    from participations p join offers o on o.id = p.offer_id left join operator_transactions c on c.id = p.commit_id
      left join operator_transactions r on r.id = p.remit_id
    where p.chain = ${chain} and (${ids === null} or p.id = any(${ids ?? []}::uuid[]))
    order by p.inserted_at, p.id`.execute(db);
  return rows.map((row) => ({
    ...toSettlementRow(row),
    ...{ slug: row.slug, committed: row.committed },
    ...{ commit: toReceipt(row.commit), remit: toReceipt(row.remit) },
  }));
}

function toReceipt(stored: StoredReceipt | null): BookedReceipt | null {
  if (stored === null) return null;
  const { state, signer, closed, slot, hash, raws } = stored;
  return {
    ...{ state, signer, isClosed: closed, slot: slot === null ? null : BigInt(slot) },
    hash: hash === null ? null : base58.encode(Buffer.from(hash, 'hex')),
    raws: (raws ?? []).map((raw) => Buffer.from(raw, 'hex')),
  };
}
