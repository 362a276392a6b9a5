import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { base58 } from '@scure/base';
import { sql } from 'kysely';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { commandConfig } from '../../../test/support/sale.ts';
import { MINT } from '../../../test/support/solana-instructions.ts';
import {
  EXPIRY_SLOTS,
  FINALITY_SLOTS,
  FUND,
  keyOfSeed,
  type SolanaKey,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { run as runSolana } from '../../edges/cli/solana-command.ts';
import type { Config } from '../../kernel/config/config.ts';
import { associatedAccount } from '../../platform/chain/solana/addresses.ts';
import { memo, transferChecked } from '../../platform/chain/solana/instructions.ts';
import { requestRemit } from '../participations/refunds.ts';
import { buildSolanaReport } from './reconcile-solana.ts';

const sale = useSolanaSale();
const CHAIN = 'solana_devnet';
const AMOUNT = 7n * UNIT;
const standby = keyOfSeed(solanaRoles.standby.seed);
let config: Config;
beforeAll(async () => {
  const urls = sale.app.ctx.config.rpcUrls;
  config = { ...(await commandConfig(sale)), rpcUrls: urls };
});
afterEach(() => void vi.restoreAllMocks());

async function complete(): Promise<void> {
  await solanaWorker(sale).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
}

async function buy(buyer: SolanaKey): Promise<string> {
  const id = await sale.participate(buyer, AMOUNT);
  await complete();
  return id;
}

/** Uses the standby key to move money from the vault to the buyer, as a person would by hand. */
function payByHand(buyer: SolanaKey, amounts: readonly bigint[], text: string): string {
  const transfer = { source: VAULT, mint: MINT, destination: associatedAccount(buyer.address, MINT) };
  const moves = amounts.map((amount) =>
    transferChecked({ ...transfer, amount, decimals: 6, authority: FUND, signers: [standby.address] }),
  );
  return sale.land(buyer, [...moves, memo(text)], [standby]);
}

async function run(...args: string[]): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  log.mockClear();
  await runSolana(config, args);
  return log.mock.calls.flat().join('\n');
}

test('a refund that was paid by hand is recorded, and not paid again', async () => {
  // Leaves enough in the vault for a second payment.
  await buy(await sale.buyer('other'));
  const buyer = await sale.buyer('by hand');
  const id = await buy(buyer);
  const signature = payByHand(buyer, [AMOUNT], id);
  await expect(run('refunded', CHAIN, id, signature)).rejects.toThrow('no finalized transaction');
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).round();
  await requestRemit(sale.app.ctx, id);
  await solanaWorker(sale).settle();
  expect(await sale.statusOf(id)).toBe('remit_submitted');
  const before = sale.balanceOf(VAULT);
  expect(await run('refunded', CHAIN, id, signature, '--dry-run')).toBe(`${id} would become remitted`);
  expect(await sale.statusOf(id)).toBe('remit_submitted');
  expect(await run('refunded', CHAIN, id, signature)).toBe(`${id} is now remitted`);
  await run('adopt', CHAIN);
  await complete();
  expect([await sale.statusOf(id), sale.balanceOf(VAULT)]).toEqual(['remitted', before]);
  const { db, chains } = sale.app.ctx;
  expect((await buildSolanaReport(db, chains.solana(CHAIN))).differences).toEqual([]);
  await expect(run('refunded', CHAIN, id, signature)).rejects.toThrow('is remitted; it has no refund to pay');
});

test('a payment counts once, and only if it is exactly the refund', async () => {
  const buyer = await sale.buyer('one payment');
  const [first, second, third] = [await buy(buyer), await buy(buyer), await buy(buyer)];
  const [less, both] = [payByHand(buyer, [AMOUNT - 1n], first), payByHand(buyer, [AMOUNT, AMOUNT], first)];
  sale.mine(FINALITY_SLOTS + 1);
  await run('adopt', CHAIN);
  await expect(run('refunded', CHAIN, first, less)).rejects.toThrow('no finalized transaction');
  for (const id of [first, second])
    expect(await run('refunded', CHAIN, id, both)).toBe(`${id} is now remitted`);
  await expect(run('refunded', CHAIN, third, both)).rejects.toThrow('no finalized transaction');
  expect(await sale.statusOf(third)).toBe('completed');
});

test('a payment that is older than the commit is refused', async () => {
  const buyer = await sale.buyer('older payment');
  const first = await buy(buyer);
  const older = payByHand(buyer, [AMOUNT], 'older');
  sale.mine(1);
  const second = await buy(buyer);
  await run('adopt', CHAIN);
  const refuse = () =>
    expect(run('refunded', CHAIN, second, older)).rejects.toThrow(
      `is older than the commit of participation ${second}`,
    );
  await refuse();
  // The database does not know the slot of an adopted commit.
  const { db } = sale.app.ctx;
  await sql`update operator_transactions t set block_number = null, mined_hash = null from participations p
    where p.id = ${second} and t.id = p.commit_id`.execute(db);
  await refuse();
  expect(await sale.statusOf(second)).toBe('completed');
  const newer = payByHand(buyer, [AMOUNT], 'newer');
  sale.mine(FINALITY_SLOTS + 1);
  await run('adopt', CHAIN);
  expect(await run('refunded', CHAIN, second, newer)).toBe(`${second} is now remitted`);
  expect(await run('refunded', CHAIN, first, older)).toBe(`${first} is now remitted`);
});

test('a payment that is newer than the commit counts, even if no node knew the slot of the commit', async () => {
  await buy(await sale.buyer('other buyer'));
  const buyer = await sale.buyer('unknown slot');
  const id = await sale.participate(buyer, AMOUNT);
  const older = payByHand(buyer, [AMOUNT], 'before the commit');
  sale.mine(1);
  await solanaWorker(sale).settle();
  sale.mine(1);
  const newer = payByHand(buyer, [AMOUNT], 'after the commit');
  sale.mine(FINALITY_SLOTS + 1);
  const chain = sale.app.ctx.chains.solana(CHAIN);
  const batch: typeof chain.rpc.batch = async (calls, accept) => {
    if (calls.some(({ method }) => method === 'getSignatureStatuses')) throw new Error('no statuses');
    return chain.rpc.batch(calls, accept);
  };
  await solanaWorker(sale, { chain: { ...chain, rpc: { ...chain.rpc, batch } } }).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  await expect(run('refunded', CHAIN, id, older)).rejects.toThrow('is older than the commit');
  expect(await run('refunded', CHAIN, id, newer)).toBe(`${id} is now remitted`);
  await run('adopt', CHAIN);
});

test('a refund that was paid by hand after the attempts of the service have expired is recorded', async () => {
  const buyer = await sale.buyer('expired');
  const id = await buy(buyer);
  await requestRemit(sale.app.ctx, id);
  sale.setFaults({ sending: 'lost' });
  await solanaWorker(sale).round();
  const signature = payByHand(buyer, [AMOUNT], 'by hand');
  sale.mine(2 * EXPIRY_SLOTS);
  await expect(run('refunded', CHAIN, id, signature)).rejects.toThrow('has already sent the refund');
  const { db } = sale.app.ctx;
  await db.updateTable('participations').set({ frozen_reason: 'hold' }).where('id', '=', id).execute();
  await solanaWorker(sale).round();
  sale.setFaults({ sending: 'now' });
  expect(await run('refunded', CHAIN, id, signature)).toBe(`${id} is now remitted`);
  await run('adopt', CHAIN);
  expect((await buildSolanaReport(db, sale.app.ctx.chains.solana(CHAIN))).differences).toEqual([]);
});

test('a refund that the service has sent is not taken for another one', async () => {
  const buyer = await sale.buyer('own refund');
  const [first, second] = [await buy(buyer), await buy(buyer)];
  await requestRemit(sale.app.ctx, first);
  await solanaWorker(sale).settle();
  const { rows } = await sale.app.ctx.pool.query(
    'select a.hash from operator_attempts a join participations p on p.remit_id = a.transaction_id where p.id = $1',
    [first],
  );
  const signature = base58.encode(rows[0].hash);
  await expect(run('refunded', CHAIN, first, signature)).rejects.toThrow('has already sent the refund');
  await complete();
  const refuse = () =>
    expect(run('refunded', CHAIN, second, signature)).rejects.toThrow('no finalized transaction');
  await refuse();
  // After a restore, the service records the refund because of its receipt. The database then lacks the signature.
  await sql`delete from operator_attempts a using participations p where p.id = ${first} and p.remit_id = a.transaction_id`.execute(
    sale.app.ctx.db,
  );
  await sql`update operator_transactions t set mined_hash = null from participations p
    where p.id = ${first} and p.remit_id = t.id`.execute(sale.app.ctx.db);
  await refuse();
});
