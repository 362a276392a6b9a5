import { sql } from 'kysely';
import type { Hex } from 'viem';
import { bytesToHex, hexToBytes, keccak256 } from 'viem/utils';
import type { Db } from '../db/pool.ts';
import { holdLease, type Lease, LeaseLost } from './lease.ts';

export type TransactionKind = 'commit' | 'remit' | 'fill';

/** One decided call of the operator. */
export type OperatorTransaction = {
  id: string;
  nonce: bigint;
  kind: TransactionKind;
  target: Hex;
  data: Hex;
  gas: bigint;
};

export type Attempt = {
  hash: Hex;
  raw: Hex;
  maxFee: bigint;
  priorityFee: bigint;
  /** Seconds since it was signed. */
  age: number;
  /** Seconds since a node took it; null when none has. */
  sentAge: number | null;
};

export type OpenTransaction = OperatorTransaction & {
  /** Oldest first. */
  attempts: Attempt[];
};

export type WatchedTransaction = {
  id: string;
  kind: TransactionKind;
  blockNumber: bigint;
  blockHash: Hex;
};

/** Where and how a transaction was mined. */
export type Mined = { hash: Hex; blockNumber: bigint; blockHash: Hex; succeeded: boolean };

export type Signed = { raw: Hex; maxFee: bigint; priorityFee: bigint };

const bytes = (hex: Hex) => Buffer.from(hexToBytes(hex));

/** Draws the nonce and stores the call with its first signed bytes. */
export async function insertTransaction(
  tx: Db,
  lease: Lease,
  transaction: OperatorTransaction,
  signed: Signed,
): Promise<void> {
  const { id, nonce, kind, target, data, gas } = transaction;
  const { chain, address } = lease;
  await holdLease(tx, lease);
  if (kind !== 'fill') await drawNonce(tx, lease, nonce);
  await tx
    .insertInto('operator_transactions')
    .values({ id, chain, signer: address, nonce, kind, target, data: bytes(data), gas })
    .execute();
  await insertAttempt(tx, id, signed);
}

async function drawNonce(tx: Db, { chain, address }: Lease, nonce: bigint): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('operator_keys')
    .set({ next_nonce: nonce + 1n })
    .where('chain', '=', chain)
    .where('address', '=', address)
    .where((where) => where.or([where('next_nonce', 'is', null), where('next_nonce', '=', nonce)]))
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new LeaseLost();
}

export async function insertAttempt(db: Db, transactionId: string, signed: Signed): Promise<void> {
  await db
    .insertInto('operator_attempts')
    .values({
      hash: bytes(keccak256(signed.raw)),
      transaction_id: transactionId,
      raw: bytes(signed.raw),
      max_fee: String(signed.maxFee),
      priority_fee: String(signed.priorityFee),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function markSent(db: Db, hash: Hex): Promise<void> {
  await sql`update operator_attempts set sent_at = now() where hash = ${bytes(hash)}`.execute(db);
}

type Key = Pick<Lease, 'chain' | 'address'>;

/** By nonce. */
export async function listOpen(db: Db, { chain, address }: Key): Promise<OpenTransaction[]> {
  const { rows } = await sql<{
    id: string;
    nonce: bigint;
    kind: TransactionKind;
    target: Hex;
    data: Buffer;
    gas: bigint;
    attempts: {
      hash: Hex;
      raw: Hex;
      max_fee: string;
      priority_fee: string;
      age: number;
      sent_age: number | null;
    }[];
  }>`
    select t.id, t.nonce, t.kind, t.target, t.data, t.gas, (
      select json_agg(json_build_object('hash', '0x' || encode(a.hash, 'hex'), 'raw', '0x' || encode(a.raw, 'hex'),
        'max_fee', a.max_fee::text, 'priority_fee', a.priority_fee::text,
        'age', extract(epoch from now() - a.inserted_at), 'sent_age', extract(epoch from now() - a.sent_at))
        order by a.max_fee, a.inserted_at)
      from operator_attempts a where a.transaction_id = t.id) as attempts
    from operator_transactions t
    where t.chain = ${chain} and t.signer = ${address} and t.state = 'open' order by t.nonce`.execute(db);
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

/** `final` is not watched any more. */
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
      mined_hash: bytes(mined.hash),
      block_number: mined.blockNumber,
      block_hash: bytes(mined.blockHash),
      succeeded: mined.succeeded,
    })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Back to where it has to be sent and mined. */
export async function markOpen(
  tx: Db,
  id: string,
  from: 'settled' | 'displaced' = 'settled',
): Promise<boolean> {
  await tx.updateTable('operator_attempts').set({ sent_at: null }).where('transaction_id', '=', id).execute();
  const { numUpdatedRows } = await tx
    .updateTable('operator_transactions')
    .set({ state: 'open', mined_hash: null, block_number: null, block_hash: null, succeeded: null })
    .where('id', '=', id)
    .where('state', '=', from)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Settled ones that a reorganisation could still undo, highest block first. */
export async function listWatched(db: Db, { chain, address }: Key): Promise<WatchedTransaction[]> {
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

export async function finalizeBelow(db: Db, { chain, address }: Key, blockNumber: bigint): Promise<void> {
  await db
    .updateTable('operator_transactions')
    .set({ state: 'final' })
    .where('chain', '=', chain)
    .where('signer', '=', address)
    .where('state', '=', 'settled')
    .where('block_number', '<', blockNumber)
    .execute();
}

/** What stands at a nonce; null when we never used it. */
export async function findByNonce(
  db: Db,
  { chain, address }: Key,
  nonce: bigint,
): Promise<{ id: string; kind: TransactionKind; state: string } | null> {
  const found = await db
    .selectFrom('operator_transactions')
    .select(['id', 'kind', 'state'])
    .where('chain', '=', chain)
    .where('signer', '=', address)
    .where('nonce', '=', nonce)
    .executeTakeFirst();
  return found ?? null;
}

/** Its nonce was used by somebody else's transaction. False when it is not open any more. */
export async function markDisplaced(tx: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('operator_transactions')
    .set({ state: 'displaced' })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
