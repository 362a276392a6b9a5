import { expect, test } from 'vitest';
import { approveChecked, MINT, revoke } from '../../test/support/solana-instructions.ts';
import {
  backUpRow,
  EXPIRY_SLOTS,
  FINALITY_SLOTS,
  FUND,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../test/support/solana-sale.ts';
import { associatedAccount } from '../chain/solana/addresses.ts';

// After a restore to a time before a commit, the database does not know the commit. It must neither send the
// commit again nor fail the row, whose money moves.
const sale = useSolanaSale();

const settle = () => solanaWorker(sale).settle();

test('a restored row waits while its commit is on the chain and not final, and completes', async () => {
  const buyer = await sale.buyer('restored early');
  const before = sale.balanceOf(VAULT);
  const id = await sale.participate(buyer, 20n * UNIT);
  const restore = await backUpRow(sale, id);
  await settle();
  sale.mine(2);
  await restore();
  // A commit that this database does not know has used up the allowance.
  await settle();
  expect(await sale.statusOf(id)).toBe('pending');
  sale.mine(FINALITY_SLOTS + 1);
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
  expect(sale.balanceOf(VAULT) - before).toBe(20n * UNIT);
});

test('a restored row that is short does not fail while a forgotten commit can still land', async () => {
  const buyer = await sale.buyer('restored late');
  const source = associatedAccount(buyer.address, MINT);
  const before = sale.balanceOf(VAULT);
  const id = await sale.participate(buyer, 20n * UNIT);
  const restore = await backUpRow(sale, id);
  for (const { faults } of sale.solana.nodes) faults.sending = { lateBySlots: 60 };
  await settle();
  await restore();
  sale.land(buyer, [revoke(source, buyer.address)]);
  sale.mine(FINALITY_SLOTS + 1);
  const worker = solanaWorker(sale);
  await worker.settle();
  expect(await sale.statusOf(id)).toBe('pending');
  // The user approves again, for something else, and the forgotten commit lands.
  sale.approve(buyer, 500n * UNIT);
  sale.mine(60 + FINALITY_SLOTS);
  await worker.settle();
  expect(await sale.statusOf(id)).toBe('completed');
  expect(sale.balanceOf(VAULT) - before).toBe(20n * UNIT);
});

test('a restored row that is short fails once nothing that was signed before can land', async () => {
  const buyer = await sale.buyer('restored short');
  const id = await sale.participate(buyer, 20n * UNIT);
  sale.land(buyer, [revoke(associatedAccount(buyer.address, MINT), buyer.address)]);
  sale.mine(2);
  const worker = solanaWorker(sale);
  await worker.settle();
  expect(await sale.statusOf(id)).toBe('pending');
  sale.mine(2 * EXPIRY_SLOTS);
  await worker.settle();
  expect(await sale.statusOf(id)).toBe('failed');
  expect(await sale.reasonOf(id)).toBe('insufficient_allowance');
});

test('a prepared row that is short waits as well before it fails', async () => {
  const buyer = await sale.buyer('prepared short');
  const source = associatedAccount(buyer.address, MINT);
  const hash = sale.land(buyer, [approveChecked(source, MINT, FUND, buyer.address, 20n * UNIT)]);
  const { body } = await sale.post(buyer, 20n * UNIT, hash);
  expect(body.status).toBe('prepared');
  sale.land(buyer, [revoke(source, buyer.address)]);
  sale.mine(2);
  const worker = solanaWorker(sale);
  await worker.settle();
  expect(await sale.statusOf(String(body.id))).toBe('prepared');
  sale.mine(2 * EXPIRY_SLOTS);
  await worker.settle();
  expect(await sale.reasonOf(String(body.id))).toBe('insufficient_allowance');
});

test('a restored row that has waited too long completes if it was committed', async () => {
  const buyer = await sale.buyer('restored after a day');
  const id = await sale.participate(buyer, 20n * UNIT);
  const restore = await backUpRow(sale, id);
  await settle();
  sale.mine(FINALITY_SLOTS + 1);
  await restore();
  sale.app.clock.set(sale.app.clock.now() + 2 * 24 * 3_600_000);
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
});
