import { type RawBuilder, sql } from 'kysely';
import type { Hex } from 'viem';
import { bytesToHex } from 'viem/utils';
import type { FundRow } from '../chain/evm/sale-fund.ts';
import type { Db } from '../db/pool.ts';
import type { ParticipationStatus } from '../db/settlement-tables.ts';

/** What the worker needs of a participation. */
export type WorkRow = FundRow & {
  id: string;
  status: ParticipationStatus;
  fund: Hex;
  approvalHash: Hex;
  preparedAt: string;
};

type Stored = {
  id: string;
  status: ParticipationStatus;
  fund_address: Hex;
  wallet_address: Hex;
  offer_option_id: string;
  token_address: Hex;
  amount: string;
  approval_hash: Buffer;
  prepared_at: string;
};

const COLUMNS = sql`p.id, p.status, p.fund_address, p.wallet_address, p.offer_option_id, p.token_address, p.amount,
  p.approval_hash, p.prepared_at`;

function toWork(row: Stored): WorkRow {
  return {
    id: row.id,
    status: row.status,
    fund: row.fund_address,
    user: row.wallet_address,
    optionId: row.offer_option_id,
    token: row.token_address,
    amount: BigInt(row.amount),
    approvalHash: bytesToHex(row.approval_hash),
    preparedAt: row.prepared_at,
  };
}

/** Prepared rows that are due, each for one worker and then not again for `seconds`. */
export async function takePrepared(
  db: Db,
  chain: string,
  limit: number,
  seconds: number,
): Promise<WorkRow[]> {
  const { rows } = await sql<Stored>`
    update participations p set check_at = now() + make_interval(secs => ${seconds})
    where p.id in (
      select id from participations where chain = ${chain} and status = 'prepared' and check_at <= now()
      order by check_at limit ${limit} for update skip locked)
    returning ${COLUMNS}`.execute(db);
  return rows.map(toWork);
}

/** The oldest pending rows of the fund that has waited longest, those held back aside. */
export async function listPending(db: Db, chain: string, limit: number): Promise<WorkRow[]> {
  const { rows } = await sql<Stored>`
    select ${COLUMNS} from participations p
    where p.chain = ${chain} and p.status = 'pending' and p.check_at <= now() and p.fund_address = (
      select fund_address from participations
      where chain = ${chain} and status = 'pending' and check_at <= now() order by inserted_at, id limit 1)
    order by p.inserted_at, p.id limit ${limit}`.execute(db);
  return rows.map(toWork);
}

/** Looks past these rows for a while, so that they do not keep others from their turn. */
export async function holdBack(db: Db, ids: readonly string[], seconds: number): Promise<void> {
  await sql`update participations set check_at = now() + make_interval(secs => ${seconds}) where id = any(${ids}::uuid[])`.execute(
    db,
  );
}

/**
 * Refunds that were asked for and not sent, of one fund, option and token, whose commit lies below `committedBelow`. One
 * whose transaction did not pay it is sent again only when that lies below `releasedBelow` and can no longer come back.
 */
export async function listToRemit(
  db: Db,
  chain: string,
  { committedBelow, releasedBelow }: { committedBelow: bigint; releasedBelow: bigint },
  limit: number,
): Promise<WorkRow[]> {
  const liesBelow = (id: RawBuilder<unknown>, block: bigint) =>
    sql`exists (select from operator_transactions t where t.id = ${id} and (t.state = 'final' or t.block_number < ${block}))`;
  const due = sql`p.chain = ${chain} and p.status = 'remit_submitted' and p.check_at <= now() and p.committed
    and ${liesBelow(sql`p.commit_id`, committedBelow)}
    and (p.remit_id is null or ${liesBelow(sql`p.remit_id`, releasedBelow)})`;
  const { rows } = await sql<Stored>`
    with first as (
      select p.fund_address, p.offer_option_id, p.token_address from participations p where ${due}
      order by p.updated_at limit 1)
    select ${COLUMNS} from participations p join first f using (fund_address, offer_option_id, token_address)
    where ${due} order by p.updated_at, p.id limit ${limit}`.execute(db);
  return rows.map(toWork);
}

/** The rows of a transaction in their order in it. */
export async function listRowsOf(
  db: Db,
  kind: 'commit' | 'remit',
  transactionId: string,
): Promise<WorkRow[]> {
  const [id, row] =
    kind === 'commit' ? [sql`p.commit_id`, sql`p.commit_row`] : [sql`p.remit_id`, sql`p.remit_row`];
  const { rows } = await sql<Stored>`
    select ${COLUMNS} from participations p where ${id} = ${transactionId} order by ${row} for update`.execute(
    db,
  );
  return rows.map(toWork);
}

/** Each count asks an index of its own. */
export async function countWaiting(db: Db, chain: string): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select (select count(*) from participations where chain = ${chain} and status = 'pending')
      + (select count(*) from participations where chain = ${chain} and status = 'prepared')
      + (select count(*) from participations where chain = ${chain} and status = 'remit_submitted') as count`.execute(
    db,
  );
  return Number(rows[0]?.count ?? 0n);
}
