import { type RawBuilder, sql } from 'kysely';
import type { Hex } from 'viem';
import { showHash } from '../../platform/chain/address.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { ParticipationStatus } from '../holdings/participation-store.ts';

/** The columns of a participation that settlement needs. In the settlement code, a "row" is a participation. */
export type SettlementRow = {
  id: string;
  /** The commitment id, for EVM funds that store one. Other funds do not use it. */
  commitment: Hex;
  status: ParticipationStatus;
  user: string;
  fund: string;
  token: string;
  amount: bigint;
  approvalHash: string;
  /**
   * The approved token account, on chains where a wallet has several token accounts. Null on other chains, and while
   * the account is unknown.
   */
  source: string | null;
  /** The token account that commits pay into, on chains where the fund itself cannot hold tokens. */
  vault: string | null;
  decimals: number;
  preparedAt: string;
  /** The database time at which the row was read. */
  readAt: string;
  userId: string;
  partnerId: string;
  offerId: string;
  optionId: string;
  chain: string;
};

export type StoredRow = {
  id: string;
  status: ParticipationStatus;
  fund_address: string;
  wallet_address: string;
  offer_option_id: string;
  token_address: string;
  source_address: string | null;
  vault_address: string | null;
  amount: string;
  approval_hash: Buffer;
  asset_digits: number;
  prepared_at: string;
  read_at: string;
  user_id: string;
  partner_id: string;
  offer_id: string;
  chain: string;
  installation_id: string;
};

export const SETTLEMENT_COLUMNS = sql`p.id, p.status, p.fund_address, p.wallet_address, p.offer_option_id, p.token_address, p.amount,
  p.approval_hash, p.asset_digits, p.prepared_at, now() as read_at, p.user_id, p.partner_id, p.offer_id, p.chain,
  p.source_address, p.vault_address,
  (select id from installation_ids) as installation_id`;

export function toSettlementRow(row: StoredRow): SettlementRow {
  return {
    id: row.id,
    commitment: `0x${`${row.installation_id}${row.id}`.replaceAll('-', '')}`,
    status: row.status,
    fund: row.fund_address,
    user: row.wallet_address,
    optionId: row.offer_option_id,
    token: row.token_address,
    amount: BigInt(row.amount),
    approvalHash: showHash(row.approval_hash),
    source: row.source_address,
    vault: row.vault_address,
    decimals: row.asset_digits,
    preparedAt: row.prepared_at,
    readAt: row.read_at,
    userId: row.user_id,
    partnerId: row.partner_id,
    offerId: row.offer_id,
    chain: row.chain,
  };
}

/**
 * Returns prepared rows that are due for a check, and sets their next check to `seconds` from now. A row is due if its
 * check time has come, or if it was last checked before `since`. Concurrent calls get different rows.
 */
export async function takePrepared(
  db: Db,
  chain: string,
  limit: number,
  seconds: number,
  since: string | null,
): Promise<SettlementRow[]> {
  const interval = sql`make_interval(secs => ${seconds})`;
  const { rows } = await sql<StoredRow>`
    update participations p set check_at = now() + ${interval}
    where p.id in (
      select id from participations where chain = ${chain} and status = 'prepared'
        and check_at <= greatest(now(), ${since}::timestamptz + ${interval}) and ending_reason is null
      order by check_at limit ${limit} for update skip locked)
    returning ${SETTLEMENT_COLUMNS}`.execute(db);
  return rows.map(toSettlementRow);
}

export async function readDatabaseTime(db: Db): Promise<string> {
  const { rows } = await sql<{ now: string }>`select now() as now`.execute(db);
  return rows[0]?.now ?? '';
}

export async function hasPrepared(db: Db, chain: string): Promise<boolean> {
  const { rows } = await sql`
    select from participations where chain = ${chain} and status = 'prepared' limit 1`.execute(db);
  return rows.length > 0;
}

export const IS_NOT_PAUSED = sql`not exists (
  select from settlement_pauses s where s.subject in ('*', p.chain, p.offer_id::text))`;

/**
 * Locks the rows and returns whether any of them is frozen, paused or marked as ending. Nobody can add a pause until
 * the database transaction ends. So once a pause is confirmed, no further chain transaction is stored for the paused
 * chain or offer.
 */
export async function lockStopped(tx: Db, ids: readonly string[]): Promise<boolean> {
  await sql`lock table settlement_pauses in share mode`.execute(tx);
  const { rows } = await sql<{ is_stopped: boolean }>`
    select p.frozen_reason is not null or (p.ending_reason is not null and p.status = 'pending')
      or not (${IS_NOT_PAUSED}) as is_stopped
    from participations p where p.id = any(${ids}::uuid[]) order by p.id for update`.execute(tx);
  return rows.some(({ is_stopped }) => is_stopped);
}

/** Returns the total amount of the commits in progress, per wallet, token and fund. */
export async function listSubmittedAmounts(
  db: Db,
  chain: string,
  wallets: readonly string[],
): Promise<Pick<SettlementRow, 'user' | 'token' | 'fund' | 'amount'>[]> {
  const { rows } = await sql<Pick<StoredRow, 'wallet_address' | 'token_address' | 'fund_address' | 'amount'>>`
    select wallet_address, token_address, fund_address, sum(amount)::text as amount from participations
    where wallet_address = any(${wallets}) and status = 'submitted' and chain = ${chain}
    group by wallet_address, token_address, fund_address`.execute(db);
  return rows.map((row) => ({
    user: row.wallet_address,
    token: row.token_address,
    fund: row.fund_address,
    amount: BigInt(row.amount),
  }));
}

/** Skips these rows for `seconds`, so that they do not delay other rows. */
export async function postponeRows(db: Db, ids: readonly string[], seconds: number): Promise<void> {
  await sql`
    update participations set check_at = now() + make_interval(secs => ${seconds})
    where id = any(${ids}::uuid[])`.execute(db);
}

/**
 * The block limits for refunds. A commit can be refunded if its block is below `committedBelow`. After a failed refund,
 * another refund can be sent if the failed transaction's block is below `releasedBelow`, because such a block can no
 * longer be undone. Neither limit applies to a transaction in state `final`.
 */
export type RefundableBlocks = { committedBelow: bigint; releasedBelow: bigint };

/**
 * Returns due refunds that share one fund, option and token. Ignores the funds in `skipped`. See `RefundableBlocks` for
 * `committedBelow` and `releasedBelow`.
 */
export async function listToRemit(
  db: Db,
  chain: string,
  { committedBelow, releasedBelow }: RefundableBlocks,
  skipped: readonly string[],
  limit: number,
): Promise<SettlementRow[]> {
  const isBelow = (id: RawBuilder<unknown>, block: bigint) =>
    sql`exists (select from operator_transactions t where t.id = ${id} and (t.state = 'final' or t.block_number < ${block}))`;
  const isDue = sql`p.chain = ${chain} and p.status = 'remit_submitted' and p.check_at <= now() and p.frozen_reason is null and p.committed
    and ${IS_NOT_PAUSED} and ${isBelow(sql`p.commit_id`, committedBelow)}
    and (p.remit_id is null or ${isBelow(sql`p.remit_id`, releasedBelow)})`;
  const { rows } = await sql<StoredRow>`
    with first as (
      select p.fund_address, p.offer_option_id, p.token_address from participations p
      where ${isDue} and p.fund_address <> all(${skipped}::text[]) order by p.updated_at limit 1)
    select ${SETTLEMENT_COLUMNS} from participations p join first f using (fund_address, offer_option_id, token_address)
    where ${isDue} order by p.updated_at, p.id limit ${limit}`.execute(db);
  return rows.map(toSettlementRow);
}

/** Locks a transaction's rows and returns them in the order of its call data. */
export async function listRowsOf(
  db: Db,
  kind: 'commit' | 'remit',
  transactionId: string,
): Promise<SettlementRow[]> {
  const [id, row] =
    kind === 'commit' ? [sql`p.commit_id`, sql`p.commit_row`] : [sql`p.remit_id`, sql`p.remit_row`];
  const { rows } = await sql<StoredRow>`
    select ${SETTLEMENT_COLUMNS} from participations p where ${id} = ${transactionId} order by ${row} for update`.execute(
    db,
  );
  return rows.map(toSettlementRow);
}

/** Makes the approval of a failed participation available to other participations. */
export async function freeApproval(tx: Db, id: string): Promise<void> {
  await tx.updateTable('participations').set({ holds_approval: false }).where('id', '=', id).execute();
}

/** Records which token account was approved. */
export async function setSource(tx: Db, id: string, source: string): Promise<void> {
  await tx.updateTable('participations').set({ source_address: source }).where('id', '=', id).execute();
}

/** Records whether the rows are committed on chain; null means unknown. */
export async function markCommitted(
  tx: Db,
  ids: readonly string[],
  committed: boolean | null,
): Promise<void> {
  await sql`update participations set committed = ${committed} where id = any(${ids}::uuid[])`.execute(tx);
}

/** Returns the ids of the rows that are known not to be committed. */
export async function listUncommitted(tx: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from participations where id = any(${ids}::uuid[]) and not committed`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Returns the ids of the rows whose refund is not in an open transaction. */
export async function listWithoutOpenRefund(tx: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select p.id from participations p where p.id = any(${ids}::uuid[]) and not exists (
      select from operator_transactions t where t.id = p.remit_id and t.state = 'open')`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Returns the value of `committed` for every row of a refund transaction. */
export async function listCommittedFlags(db: Db, transactionId: string): Promise<(boolean | null)[]> {
  const { rows } = await sql<{ committed: boolean | null }>`
    select committed from participations where remit_id = ${transactionId}`.execute(db);
  return rows.map(({ committed }) => committed);
}

/**
 * Assigns refunds to a transaction in the order of `ids`. Leaves out refunds that may no longer be sent. Returns how
 * many refunds it assigned.
 */
export async function assignRefund(tx: Db, transactionId: string, ids: readonly string[]): Promise<number> {
  const { numAffectedRows } = await sql`
    update participations p set remit_id = ${transactionId}, remit_row = n.row - 1
    from unnest(${ids}::uuid[]) with ordinality as n (id, row)
    where p.id = n.id and p.status = 'remit_submitted' and p.frozen_reason is null and p.committed`.execute(
    tx,
  );
  return Number(numAffectedRows ?? 0n);
}

/** Detaches refunds from their transaction. */
export async function unassignRefund(
  tx: Db,
  ids: readonly string[],
): Promise<{ id: string; committed: boolean | null }[]> {
  const { rows } = await sql<{ id: string; committed: boolean | null }>`
    update participations set remit_id = null, remit_row = null where id = any(${ids}::uuid[])
    returning id, committed`.execute(tx);
  return rows;
}
