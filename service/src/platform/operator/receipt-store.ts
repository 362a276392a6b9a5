import { base58 } from '@scure/base';
import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import type { KeyId } from './account.ts';
import type { NewAttempt, ReceiptTransaction } from './receipt-transaction.ts';

type NewTransaction = Pick<ReceiptTransaction, 'id' | 'kind' | 'receipt' | 'units'> & { fund: string };

/**
 * Reopens a transaction whose attempts have all expired. Null if the receipt's transaction is open or has landed; the
 * caller must then not send anything.
 */
export async function openReceiptTransaction(
  tx: Db,
  { chain, address }: KeyId,
  { id, kind, receipt, units, fund }: NewTransaction,
  attempt: NewAttempt,
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    insert into operator_transactions as t (id, chain, signer, kind, target, data, gas, receipt)
    values (${id}, ${chain}, ${address}, ${kind}, ${fund}, '', ${units}, ${receipt})
    on conflict (chain, receipt) do update set state = 'open', gas = excluded.gas where t.state = 'displaced'
    returning id`.execute(tx);
  const opened = rows[0]?.id ?? null;
  if (opened !== null) await insertReceiptAttempt(tx, opened, attempt);
  return opened;
}

export async function insertReceiptAttempt(
  db: Db,
  transactionId: string,
  attempt: NewAttempt,
): Promise<void> {
  await db
    .insertInto('operator_attempts')
    .values({
      hash: toBytes(attempt.signature),
      transaction_id: transactionId,
      raw: attempt.raw,
      max_fee: String(attempt.fee),
      priority_fee: String(attempt.price),
      last_valid_height: attempt.lastValidHeight,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Sent with another key, or by a service with another database. The caller must have found its finalized receipt
 * account, which proves that it succeeded.
 */
export async function adoptReceipt(
  tx: Db,
  { chain, address }: KeyId,
  { id, kind, receipt, fund }: Omit<NewTransaction, 'units'>,
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into operator_transactions (id, chain, signer, kind, target, data, gas, receipt, state, succeeded)
    values (${id}, ${chain}, ${address}, ${kind}, ${fund}, '', 0, ${receipt}, 'final', true)
    on conflict (chain, receipt) do update set state = 'final', succeeded = true
    returning id`.execute(tx);
  return rows[0]?.id ?? id;
}

/** Paid by hand, so there is no receipt account: `receipt` is recorded as already closed. */
export async function adoptPaidRefund(
  tx: Db,
  { chain, address }: KeyId,
  { id, receipt, fund, signature }: Pick<NewTransaction, 'id' | 'receipt' | 'fund'> & { signature: string },
): Promise<void> {
  await sql`
    insert into operator_transactions
      (id, chain, signer, kind, target, data, gas, receipt, state, succeeded, mined_hash, receipt_closed_at)
    values (${id}, ${chain}, ${address}, 'remit', ${fund}, '', 0, ${receipt}, 'final', true, ${toBytes(signature)}, now())`.execute(
    tx,
  );
}

export async function markReceiptSent(db: Db, signature: string): Promise<void> {
  await sql`update operator_attempts set sent_at = now() where hash = ${toBytes(signature)}`.execute(db);
}

export async function listOpenReceipts(db: Db, { chain, address }: KeyId): Promise<ReceiptTransaction[]> {
  const { rows } = await sql<{
    id: string;
    kind: 'commit' | 'remit';
    receipt: string;
    gas: bigint;
    attempts: {
      hash: string;
      raw: string;
      last_valid_height: string;
      price: string;
      age: number;
      sent_age: number | null;
    }[];
  }>`
    select t.id, t.kind, t.receipt, t.gas, (
      select json_agg(json_build_object('hash', encode(a.hash, 'hex'), 'raw', encode(a.raw, 'hex'),
        'last_valid_height', a.last_valid_height::text, 'price', a.priority_fee::text,
        'age', extract(epoch from now() - a.inserted_at), 'sent_age', extract(epoch from now() - a.sent_at))
        order by a.last_valid_height, a.inserted_at)
      from operator_attempts a where a.transaction_id = t.id) as attempts
    from operator_transactions t
    where t.chain = ${chain} and t.signer = ${address} and t.state = 'open' order by t.inserted_at, t.id`.execute(
    db,
  );
  return rows.map(({ gas, attempts, ...row }) => ({
    ...row,
    units: Number(gas),
    attempts: attempts.map(({ hash, raw, last_valid_height, price, age, sent_age }) => ({
      signature: base58.encode(Buffer.from(hash, 'hex')),
      raw: Buffer.from(raw, 'hex'),
      lastValidHeight: BigInt(last_valid_height),
      price: BigInt(price),
      age,
      sentAge: sent_age,
    })),
  }));
}

export async function markLanded(
  tx: Db,
  id: string,
  landed: { signature: string | null; slot: bigint; fee: bigint },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('operator_transactions')
    .set({
      state: 'final',
      succeeded: true,
      mined_hash: landed.signature === null ? null : toBytes(landed.signature),
      block_number: landed.slot,
      fee_paid: String(landed.fee),
    })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Returns those of the given signatures that belong to this service's transactions. */
export async function listOwnSignatures(db: Db, signatures: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ hash: Buffer }>`
    select hash from operator_attempts where hash = any(${signatures.map(toBytes)}::bytea[])
    union select mined_hash from operator_transactions where mined_hash = any(${signatures.map(toBytes)}::bytea[])`.execute(
    db,
  );
  return new Set(rows.map(({ hash }) => base58.encode(hash)));
}

function toBytes(signature: string): Buffer {
  return Buffer.from(base58.decode(signature));
}
