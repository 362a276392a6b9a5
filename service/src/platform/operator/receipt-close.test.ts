import { encodeMessage } from '@causeway/contracts/encodings/solana-message.ts';
import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { setTokenAccount } from '../../../test/support/solana-accounts.ts';
import {
  EXPIRY_SLOTS,
  FINALITY_SLOTS,
  solanaKey,
  solanaWorker,
  UNIT,
  useSolanaSale,
} from '../../../test/support/solana-sale.ts';
import { requestRemit } from '../../domain/participations/refunds.ts';
import { keyOf, receiptAddress } from '../chain/solana/addresses.ts';
import { closeAccount, transferLamports } from '../chain/solana/instructions.ts';
import { assertCloseAllowed, closeReceipts } from './receipt-close.ts';
import { SigningRefused } from './receipt-policy.ts';
import { localSolanaSigner } from './solana-signer.ts';

const sale = useSolanaSale();
const signer = localSolanaSigner(solanaRoles.operator.seed);
const OPERATOR = signer.address;
const DAYS = 30;

async function complete(): Promise<void> {
  await solanaWorker(sale).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
}

async function invest(name: string): Promise<string> {
  const id = await sale.participate(await sale.buyer(name), UNIT);
  await complete();
  return id;
}

/** Makes all sent transactions look `days` days older. */
async function age(days: number): Promise<void> {
  for (const table of ['operator_transactions', 'operator_attempts'])
    await sql`update ${sql.table(table)} set inserted_at = inserted_at - make_interval(days => ${days})`.execute(
      sale.app.ctx.db,
    );
}

async function close(): Promise<{ closed: number; kept: number }> {
  const { db, chains } = sale.app.ctx;
  sale.mine(EXPIRY_SLOTS);
  sale.solana.chain.setSlotMs(20);
  try {
    return await closeReceipts({ db, chain: chains.solana('solana_devnet'), signer }, DAYS);
  } finally {
    sale.solana.chain.setSlotMs(0);
  }
}
const receiptOf = (id: string, kind: 'commit' | 'remit' = 'commit') =>
  sale.tokenAccount(receiptAddress(OPERATOR, id, kind));
const lamports = () => sale.solana.chain.svm.balance(keyOf(OPERATOR));

test('receipts are kept while a backup could be older, then closed once, and their rent returns', async () => {
  const ids = [await invest('close 1'), await invest('close 2'), await invest('close 3')];
  await age(DAYS - 1);
  expect(await close()).toEqual({ closed: 0, kept: 0 });
  expect(receiptOf(ids[0] ?? '')).not.toBeNull();
  await age(2);
  const before = lamports();
  expect(await close()).toEqual({ closed: 3, kept: 0 });
  for (const id of ids) expect(receiptOf(id)).toBeNull();
  expect(lamports() - before).toBe(3n * 2_039_280n - 5_000n);
  expect(await close()).toEqual({ closed: 0, kept: 0 });
  await complete();
  for (const id of ids) expect(await sale.statusOf(id)).toBe('completed');
});

test('a receipt is kept while its refund is under way, while an attempt lives, and if it holds tokens', async () => {
  const [refunded, alive, dusted] = [await invest('refunded'), await invest('alive'), await invest('dusted')];
  await age(DAYS + 1);
  await requestRemit(sale.app.ctx, refunded);
  const { db } = sale.app.ctx;
  await sql`update operator_attempts set last_valid_height = 999999999 where transaction_id = (
    select commit_id from participations where id = ${alive})`.execute(db);
  setTokenAccount(sale.solana, receiptAddress(OPERATOR, dusted, 'commit'), OPERATOR, 1n);
  expect(await close()).toEqual({ closed: 0, kept: 1 });
  for (const id of [refunded, alive, dusted]) expect(receiptOf(id)).not.toBeNull();
  await complete();
  expect(await sale.statusOf(refunded)).toBe('remitted');
  await age(DAYS + 1);
  expect(await close()).toEqual({ closed: 2, kept: 1 });
  expect(receiptOf(refunded, 'remit')).toBeNull();
});

test('the key signs nothing but closing these receipts to itself', () => {
  const [receipt, other] = [solanaKey('receipt').address, solanaKey('other').address];
  const encode = (instructions: Parameters<typeof encodeMessage>[0]['instructions']) =>
    encodeMessage({ feePayer: keyOf(OPERATOR), blockhash: keyOf(other), instructions });
  const check = (message: Uint8Array) => () => assertCloseAllowed(OPERATOR, [receipt], message);
  expect(check(encode([closeAccount(receipt, OPERATOR)]))).not.toThrow();
  const more = transferLamports(OPERATOR, other, 1n);
  for (const instructions of [
    [closeAccount(other, OPERATOR)],
    [more],
    [closeAccount(receipt, OPERATOR), more],
  ])
    expect(check(encode(instructions))).toThrow(SigningRefused);
});
