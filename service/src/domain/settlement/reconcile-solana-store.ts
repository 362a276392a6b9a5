import { base58 } from '@scure/base';
import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import { SETTLEMENT_COLUMNS, type SettlementRow, type StoredRow, toSettlementRow } from './store.ts';

/**
 * A participation's commit or refund transaction, as the database records it. `isClosed`: whether the transaction's
 * receipt (the account that it created on the chain) was closed. `raws`: the signed bytes of the transaction's
 * attempts.
 */
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

/**
 * Returns a cluster's participations with their commit and refund transactions, oldest first. If `ids` is given,
 * returns only those participations.
 */
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

/**
 * Returns the ids of two groups of participations:
 * - those that have changed since `since`, or less than an hour before it
 * - the `limit` participations that follow `cursor` in order of id
 *
 * Also returns the new cursor, which is null after the last participation, so that the next call starts again with the
 * first.
 */
export async function chooseRows(
  db: Db,
  chain: string,
  { since, cursor, limit }: { since: string; cursor: string | null; limit: number },
): Promise<{ ids: string[]; cursor: string | null }> {
  const { rows: changed } = await sql<{ id: string }>`
    select id from participations
    where chain = ${chain} and updated_at > ${since}::timestamptz - interval '1 hour'`.execute(db);
  const { rows: next } = await sql<{ id: string }>`
    select id from participations
    where chain = ${chain} and (${cursor}::uuid is null or id > ${cursor}::uuid) order by id limit ${limit}`.execute(
    db,
  );
  const ids = [...new Set([...changed, ...next].map(({ id }) => id))];
  return { ids, cursor: next.length < limit ? null : (next.at(-1)?.id ?? null) };
}

/** A successful transaction without a participation. */
export type UnrecordedReceipt = { kind: string; fund: string; hash: string | null; offerIds: string[] };

/** Returns the successful transactions that belong to no participation, each with the offers of its fund. */
export async function listUnrecorded(db: Db, chain: string): Promise<UnrecordedReceipt[]> {
  const { rows } = await sql<UnrecordedReceipt>`
    select t.kind, t.target as fund, encode(t.mined_hash, 'hex') as hash, coalesce((
      select array_agg(distinct c.offer_id::text) from offer_contracts c
      where c.chain = t.chain and c.address = t.target), '{}') as "offerIds"
    from operator_transactions t
    where t.chain = ${chain} and t.receipt is not null and t.state = 'final' and t.succeeded
      and not exists (select from participations p where p.commit_id = t.id)
      and not exists (select from participations p where p.remit_id = t.id)
    order by t.inserted_at, t.id`.execute(db);
  return rows.map((row) => ({
    ...row,
    hash: row.hash === null ? null : base58.encode(Buffer.from(row.hash, 'hex')),
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
