import { sql } from 'kysely';
import type { Hex } from 'viem';
import { bytesToHex, hexToBytes } from 'viem/utils';
import type { SendingRole } from '../../kernel/config/role.ts';
import type { FundTotals } from '../../platform/chain/evm/sale-fund.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { EvmRow } from './evm-parts.ts';
import { SETTLEMENT_COLUMNS, type StoredRow, toSettlementRow } from './store.ts';

const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * A participation with the recorded state of its commit and its refund. If it has no commit or no refund transaction,
 * the fields about that transaction are null or false.
 */
export type BookedRow = EvmRow & {
  committed: boolean | null;
  commitId: string | null;
  commitNonce: bigint | null;
  remitId: string | null;
  remitNonce: bigint | null;
  isCommitOpen: boolean;
  isRemitOpen: boolean;
  commitBlock: bigint | null;
  remitBlock: bigint | null;
};

export type FundOffers = { fund: Hex; offerIds: string[] };

/** Returns every fund of a chain that occurs in an offer or a participation, with the ids of the offers. */
export async function listFunds(db: Db, chain: string): Promise<FundOffers[]> {
  const { rows } = await sql<FundOffers>`
    select fund, array_agg(distinct offer_id::text) as "offerIds" from (
      select address as fund, offer_id from offer_contracts where chain = ${chain} and kind = 'fund'
      union select distinct fund_address, offer_id from participations where chain = ${chain}) f
    group by fund order by fund`.execute(db);
  return rows;
}

/** Returns the slugs of these offers, keyed by offer id. */
export async function listSlugs(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('offers')
    .select(['id', 'slug'])
    .where('id', 'in', [...ids, NO_ID])
    .execute();
  return new Map(rows.map(({ id, slug }) => [id, slug]));
}

/**
 * Returns the participations of these wallets, or of all wallets if `wallets` is null. Also returns every participation
 * whose commit or refund was mined from block `from` to block `to`. Oldest first.
 */
export async function listBooked(
  db: Db,
  chain: string,
  wallets: readonly Hex[] | null,
  { from, to }: { from: bigint; to: bigint },
): Promise<BookedRow[]> {
  type Stored = StoredRow & {
    committed: boolean | null;
    commit_id: string | null;
    remit_id: string | null;
    commit_state: string | null;
    remit_state: string | null;
    commit_nonce: bigint | null;
    remit_nonce: bigint | null;
    commit_block: bigint | null;
    remit_block: bigint | null;
  };
  const { rows } = await sql<Stored>`
    select ${SETTLEMENT_COLUMNS}, p.committed, p.commit_id, p.remit_id, c.state as commit_state, c.nonce as commit_nonce,
      r.state as remit_state, r.nonce as remit_nonce, c.block_number as commit_block, r.block_number as remit_block
    from participations p left join operator_transactions c on c.id = p.commit_id
      left join operator_transactions r on r.id = p.remit_id
    where p.chain = ${chain} and (${wallets === null} or p.wallet_address = any(${wallets ?? []}) or c.block_number between ${from} and ${to}
      or r.block_number between ${from} and ${to}) order by p.inserted_at, p.id`.execute(db);
  return rows.map((row) => ({
    ...(toSettlementRow(row) as EvmRow),
    committed: row.committed,
    commitId: row.commit_id,
    commitNonce: row.commit_nonce,
    remitId: row.remit_id,
    remitNonce: row.remit_nonce,
    isCommitOpen: row.commit_state === 'open',
    isRemitOpen: row.remit_state === 'open',
    commitBlock: row.commit_block,
    remitBlock: row.remit_block,
  }));
}

export type KnownTransaction = {
  id: string;
  hash: Hex;
  state: string;
  minedHash: Hex | null;
  blockNumber: bigint | null;
};

/** Returns our transactions that have one of these hashes, either in an attempt or as the mined transaction. */
export async function listKnown(db: Db, chain: string, hashes: readonly Hex[]): Promise<KnownTransaction[]> {
  const bytes = hashes.map((hash) => Buffer.from(hexToBytes(hash)));
  type Stored = {
    id: string;
    hash: Buffer;
    state: string;
    mined_hash: Buffer | null;
    block_number: bigint | null;
  };
  const { rows } = await sql<Stored>`
    select t.id, a.hash, t.state, t.mined_hash, t.block_number from operator_attempts a join operator_transactions t on t.id = a.transaction_id
    where a.hash = any(${bytes}) and t.chain = ${chain}
    union select id, mined_hash, state, mined_hash, block_number from operator_transactions
    where mined_hash = any(${bytes}) and chain = ${chain}`.execute(db);
  return rows.map(({ id, hash, state, mined_hash, block_number }) => ({
    ...{ id, hash: bytesToHex(hash), state, blockNumber: block_number },
    minedHash: mined_hash === null ? null : bytesToHex(mined_hash),
  }));
}

/** Returns the addresses of the keys that this installation has used on a chain. */
export async function listSigners(db: Db, chain: string): Promise<Hex[]> {
  const { rows } = await sql<{ address: Hex }>`
    select address from operator_keys where chain = ${chain}`.execute(db);
  return rows.map(({ address }) => address);
}

const KINDS: Readonly<Record<SendingRole, string[]>> = { commit: ['commit', 'revoke'], refund: ['remit'] };

/** Lists the keys that have sent transactions in one of the roles. */
export async function listSendersOf(db: Db, chain: string, roles: readonly SendingRole[]): Promise<Hex[]> {
  const { rows } = await sql<{ signer: Hex }>`
    select distinct signer from operator_transactions
    where chain = ${chain} and kind = any(${roles.flatMap((role) => KINDS[role])}) order by signer`.execute(
    db,
  );
  return rows.map(({ signer }) => signer);
}

/** Returns the first and the last block in which one of our transactions was mined, or null if none was mined. */
export async function findBlocks(db: Db, chain: string): Promise<{ first: bigint; last: bigint } | null> {
  const { rows } = await sql<{ first: bigint | null; last: bigint | null }>`
    select min(block_number) as first, max(block_number) as last from operator_transactions
    where chain = ${chain}`.execute(db);
  const { first = null, last = null } = rows[0] ?? {};
  return first === null || last === null ? null : { first, last };
}

/**
 * Records that the transaction, which was found on the chain, has refunded these participations. `ids` must be in the
 * order in which the transaction lists them.
 */
export async function attachRefund(tx: Db, transactionId: string, ids: readonly string[]): Promise<void> {
  await sql`
    update participations p set remit_id = ${transactionId}, remit_row = n.row - 1
    from unnest(${ids}::uuid[]) with ordinality as n (id, row) where p.id = n.id`.execute(tx);
}

/** The totals of all participations with this fund and token, and the slugs of their offers. */
export type BookedTotals = { fund: Hex; token: Hex; offers: string[]; totals: FundTotals };

/**
 * Adds up the recorded commits and refunds of each fund and token. Counts only those that were mined in block `to` or
 * earlier.
 */
export async function listBookedTotals(db: Db, chain: string, to: bigint): Promise<BookedTotals[]> {
  const { rows } = await sql<{ fund: Hex; token: Hex; offers: string[] } & Record<keyof FundTotals, string>>`
    select p.fund_address as fund, p.token_address as token, array_agg(distinct o.slug) as offers,
      count(*) filter (where p.committed and c.block_number <= ${to})::text as commits,
      coalesce(sum(p.amount) filter (where p.committed and c.block_number <= ${to}), 0)::text as committed,
      count(*) filter (where p.status = 'remitted' and r.block_number <= ${to})::text as refunds,
      coalesce(sum(p.amount) filter (where p.status = 'remitted' and r.block_number <= ${to}), 0)::text as refunded
    from participations p join offers o on o.id = p.offer_id left join operator_transactions c on c.id = p.commit_id
      left join operator_transactions r on r.id = p.remit_id
    where p.chain = ${chain} group by p.fund_address, p.token_address order by 1, 2`.execute(db);
  return rows.map(({ fund, token, offers, ...sums }) => ({
    ...{ fund, token, offers },
    totals: {
      commits: BigInt(sums.commits),
      committed: BigInt(sums.committed),
      refunds: BigInt(sums.refunds),
      refunded: BigInt(sums.refunded),
    },
  }));
}
