import { sql } from 'kysely';
import type { Hex } from 'viem';
import { bytesToHex, hexToBytes, keccak256 } from 'viem/utils';
import type { Db } from '../db/pool.ts';
import type { KeyId } from './account.ts';
import type {
  Mined,
  OpenTransaction,
  OperatorTransaction,
  ReplacementAction,
  SignedCall,
  TransactionKind,
  WatchedTransaction,
} from './transaction.ts';

const toBytes = (hex: Hex) => Buffer.from(hexToBytes(hex));

/** The caller must hold the lease and have reserved the nonce, unless the nonce fills a gap. */
export async function insertTransaction(
  tx: Db,
  { chain, address }: KeyId,
  transaction: OperatorTransaction,
  signed: SignedCall,
): Promise<void> {
  const { id, nonce, kind, target, data, gas } = transaction;
  await tx
    .insertInto('operator_transactions')
    .values({ id, chain, signer: address, nonce, kind, target, data: toBytes(data), gas })
    .execute();
  await insertAttempt(tx, id, signed);
}

export type MinedCall = {
  id: string;
  chain: string;
  from: Hex;
  nonce: bigint;
  kind: TransactionKind;
  to: Hex;
  data: Hex;
  gas: bigint;
  hash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
};

/** Stores a transaction that was found on the chain and is final. Stores no attempts, because they are unknown. */
export async function insertMined(tx: Db, found: MinedCall): Promise<void> {
  const { id, chain, from, nonce, kind, to, data, gas, hash, blockNumber, blockHash } = found;
  await tx
    .insertInto('operator_transactions')
    .values({
      ...{ id, chain, signer: from, nonce, kind, target: to, data: toBytes(data), gas },
      ...{ state: 'final', succeeded: true, mined_hash: toBytes(hash) },
      ...{ block_number: blockNumber, block_hash: toBytes(blockHash) },
    })
    .execute();
}

export async function insertAttempt(db: Db, transactionId: string, signed: SignedCall): Promise<void> {
  await db
    .insertInto('operator_attempts')
    .values({
      hash: toBytes(keccak256(signed.raw)),
      transaction_id: transactionId,
      raw: toBytes(signed.raw),
      max_fee: String(signed.maxFee),
      priority_fee: String(signed.priorityFee),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function markSent(db: Db, hash: Hex): Promise<void> {
  await sql`update operator_attempts set sent_at = now() where hash = ${toBytes(hash)}`.execute(db);
}

/** Returns the unsettled transactions in nonce order, leaving out those in `except`. */
export async function listOpen(
  db: Db,
  { chain, address }: KeyId,
  except: readonly string[] = [],
): Promise<OpenTransaction[]> {
  const { rows } = await sql<{
    id: string;
    nonce: bigint;
    kind: TransactionKind;
    target: Hex;
    data: Buffer;
    gas: bigint;
    requested: ReplacementAction | null;
    attempts: {
      hash: Hex;
      raw: Hex;
      max_fee: string;
      priority_fee: string;
      age: number;
      sent_age: number | null;
    }[];
  }>`
    select t.id, t.nonce, t.kind, t.target, t.data, t.gas, t.requested, (
      select json_agg(json_build_object('hash', '0x' || encode(a.hash, 'hex'), 'raw', '0x' || encode(a.raw, 'hex'),
        'max_fee', a.max_fee::text, 'priority_fee', a.priority_fee::text,
        'age', extract(epoch from now() - a.inserted_at), 'sent_age', extract(epoch from now() - a.sent_at))
        order by a.max_fee, a.inserted_at)
      from operator_attempts a where a.transaction_id = t.id) as attempts
    from operator_transactions t
    where t.chain = ${chain} and t.signer = ${address} and t.state = 'open'
      and t.id <> all(${except}::uuid[]) order by t.nonce`.execute(db);
  return rows.map((row) => ({
    ...row,
    data: bytesToHex(row.data),
    attempts: row.attempts.map(({ hash, raw, max_fee, priority_fee, age, sent_age }) => ({
      hash,
      raw,
      maxFee: BigInt(max_fee),
      priorityFee: BigInt(priority_fee),
      age,
      sentAge: sent_age,
    })),
  }));
}

/** In the last 24 hours. Unmined transactions count at their maximum cost. */
export async function sumSpent(db: Db, { chain, address }: KeyId): Promise<bigint> {
  const { rows } = await sql<{ wei: string }>`
    select coalesce(sum(coalesce(t.fee_paid, t.gas * (
      select max(a.max_fee) from operator_attempts a where a.transaction_id = t.id))), 0)::text as wei
    from operator_transactions t
    where t.chain = ${chain} and t.signer = ${address} and t.inserted_at > now() - interval '24 hours'
      and t.state <> 'displaced'`.execute(db);
  return BigInt(rows[0]?.wei ?? '0');
}

export async function countOpen(db: Db, { chain, address }: KeyId): Promise<bigint> {
  const { rows } = await sql<{ n: bigint }>`
    select count(*) as n from operator_transactions
    where chain = ${chain} and signer = ${address} and state = 'open'`.execute(db);
  return rows[0]?.n ?? 0n;
}

export async function countOpenByChain(db: Db): Promise<{ chain: string; count: number }[]> {
  const { rows } = await sql<{ chain: string; count: number }>`
    select chain, count(*)::int as count from operator_transactions where state = 'open' group by chain`.execute(
    db,
  );
  return rows;
}

/** `count` includes the `open` transactions. */
export type UnfinishedKey = KeyId & { count: number; open: number; kinds: TransactionKind[] };

/** Counts, for each key and chain, the transactions that are open or that a reorganization could still undo. */
export async function listUnfinishedKeys(db: Db): Promise<UnfinishedKey[]> {
  const { rows } = await sql<UnfinishedKey>`
    select chain, signer as address, count(*)::int as count, count(*) filter (where state = 'open')::int as open,
      array_agg(distinct kind) as kinds
    from operator_transactions
    where state in ('open', 'settled') group by chain, signer order by chain, signer`.execute(db);
  return rows;
}

/**
 * Returns false if the transaction is no longer open. `settled` ones are watched for reorganizations, `final` ones
 * are not.
 */
export async function markSettled(
  tx: Db,
  id: string,
  mined: Mined,
  state: 'settled' | 'final',
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('operator_transactions')
    .set({
      state,
      mined_hash: toBytes(mined.hash),
      block_number: mined.blockNumber,
      block_hash: toBytes(mined.blockHash),
      succeeded: mined.succeeded,
      fee_paid: String(mined.feePaid),
      requested: null,
    })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Reopens a transaction, so that it can be sent and mined again. Returns false if it is not in state `from`. */
export async function markOpen(
  tx: Db,
  id: string,
  from: 'settled' | 'displaced' = 'settled',
): Promise<boolean> {
  await tx.updateTable('operator_attempts').set({ sent_at: null }).where('transaction_id', '=', id).execute();
  const { numUpdatedRows } = await tx
    .updateTable('operator_transactions')
    .set({
      state: 'open',
      mined_hash: null,
      block_number: null,
      block_hash: null,
      succeeded: null,
      fee_paid: null,
    })
    .where('id', '=', id)
    .where('state', '=', from)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Returns settled transactions that a reorganization could still undo, highest block first. */
export async function listWatched(db: Db, { chain, address }: KeyId): Promise<WatchedTransaction[]> {
  const rows = await db
    .selectFrom('operator_transactions')
    .select(['id', 'kind', 'block_number', 'block_hash'])
    .where('chain', '=', chain)
    .where('signer', '=', address)
    .where('state', '=', 'settled')
    .orderBy('block_number', 'desc')
    .orderBy('nonce', 'desc')
    .execute();
  return rows.map(({ id, kind, block_number, block_hash }) => ({
    id,
    kind,
    blockNumber: block_number ?? 0n,
    blockHash: bytesToHex(block_hash ?? Buffer.alloc(0)),
  }));
}

/** Ends the watch over transactions below `blockNumber`. */
export async function finalizeBelow(db: Db, { chain, address }: KeyId, blockNumber: bigint): Promise<void> {
  await db
    .updateTable('operator_transactions')
    .set({ state: 'final' })
    .where('chain', '=', chain)
    .where('signer', '=', address)
    .where('state', '=', 'settled')
    .where('block_number', '<', blockNumber)
    .execute();
}

/** Prefers one that was not displaced. Null if we never used the nonce. */
export async function findByNonce(
  db: Db,
  { chain, address }: KeyId,
  nonce: bigint,
): Promise<{ id: string; kind: TransactionKind; state: string } | null> {
  const found = await db
    .selectFrom('operator_transactions')
    .select(['id', 'kind', 'state'])
    .where('chain', '=', chain)
    .where('signer', '=', address)
    .where('nonce', '=', nonce)
    .orderBy(sql`state = 'displaced'`)
    .orderBy('inserted_at', 'desc')
    .executeTakeFirst();
  return found ?? null;
}

/**
 * A transaction that is missing from this database used its nonce or, on Solana, all its attempts have expired.
 * Returns false if it is no longer open.
 */
export async function markDisplaced(tx: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('operator_transactions')
    .set({ state: 'displaced', requested: null })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
