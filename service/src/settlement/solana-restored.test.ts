import { NO_FAULTS } from '@causeway/sandbox/simulators/solana/node.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { approveChecked, MINT, revoke } from '../../test/support/solana-instructions.ts';
import {
  backUpRow,
  EXPIRY_SLOTS,
  FINALITY_SLOTS,
  FUND,
  type SolanaKey,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../test/support/solana-sale.ts';
import { associatedAccount } from '../chain/solana/addresses.ts';

// After a restore to a time before a commit, the database does not know the commit. It must neither send the
// commit again nor fail the row, because the commit takes the user's money.
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

const endProof = ({ address }: SolanaKey) =>
  sale.app.ctx.db.deleteFrom('wallet_proofs').where('address', '=', address).execute();

const limitSupply = (supply: string | null) =>
  sale.app.ctx.db
    .updateTable('offer_options')
    .set({ total_token_supply: supply, price_usd: supply })
    .execute();

/** Makes the row look as if it had been prepared two days ago. */
const outwait = (id: string) =>
  sale.app.ctx.db
    .updateTable('participations')
    .set({ prepared_at: new Date(sale.app.clock.now() - 2 * 24 * 3_600_000).toISOString() })
    .where('id', '=', id)
    .execute();

/** Creates a row that waits for its approval, which is confirmed afterwards. */
async function prepare(buyer: SolanaKey): Promise<string> {
  const source = associatedAccount(buyer.address, MINT);
  const hash = sale.land(buyer, [approveChecked(source, MINT, FUND, buyer.address, 20n * UNIT)]);
  const { body } = await sale.post(buyer, 20n * UNIT, hash);
  expect(body.status).toBe('prepared');
  sale.mine(2);
  return String(body.id);
}

describe.each([
  { reason: 'expired', create: (buyer: SolanaKey) => sale.participate(buyer, 20n * UNIT) },
  { reason: 'wallet_not_proven', create: (buyer: SolanaKey) => sale.participate(buyer, 20n * UNIT) },
  { reason: 'sold_out', create: prepare },
])('a row that is to fail because it is $reason', ({ reason, create }) => {
  const endIntent = async (buyer: SolanaKey, id: string) => {
    if (reason === 'expired') await outwait(id);
    else if (reason === 'sold_out') await limitSupply('0.000001');
    else await endProof(buyer);
  };
  afterEach(() => limitSupply(null));

  test('does not fail while a forgotten commit can still land, and completes if it does', async () => {
    const buyer = await sale.buyer(`forgotten ${reason}`);
    const before = sale.balanceOf(VAULT);
    const id = await create(buyer);
    const restore = await backUpRow(sale, id);
    sale.setFaults({ sending: { lateBySlots: 60 } });
    await settle();
    expect(await sale.statusOf(id)).toBe('submitted');
    await restore();
    sale.setFaults(NO_FAULTS);
    await endIntent(buyer, id);
    const worker = solanaWorker(sale);
    await worker.settle();
    sale.mine(FINALITY_SLOTS + 1);
    await worker.settle();
    expect(['prepared', 'pending']).toContain(await sale.statusOf(id));
    sale.mine(60 + FINALITY_SLOTS);
    await worker.settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(sale.balanceOf(VAULT) - before).toBe(20n * UNIT);
  });

  test('fails once nothing that was signed before can land, and is not sent meanwhile', async () => {
    const buyer = await sale.buyer(`never sent ${reason}`);
    const before = sale.balanceOf(VAULT);
    const id = await create(buyer);
    await endIntent(buyer, id);
    const worker = solanaWorker(sale);
    for (let i = 0; i < 3; i++) {
      await worker.settle();
      sale.mine(20);
    }
    expect(['prepared', 'pending']).toContain(await sale.statusOf(id));
    sale.mine(2 * EXPIRY_SLOTS);
    await worker.settle();
    expect(await sale.reasonOf(id)).toBe(reason);
    expect(sale.balanceOf(VAULT)).toBe(before);
  });
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
