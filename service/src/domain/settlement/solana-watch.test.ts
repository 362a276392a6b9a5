import { readonly } from '@causeway/contracts/encodings/solana-message.ts';
import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { afterEach, expect, test, vi } from 'vitest';
import { commandConfig } from '../../../test/support/sale.ts';
import { setTokenAccount } from '../../../test/support/solana-accounts.ts';
import { MINT, tokenInstruction } from '../../../test/support/solana-instructions.ts';
import {
  FINALITY_SLOTS,
  FUND,
  keyOfSeed,
  solanaKey,
  solanaWorker,
  theft,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { run as runSolana } from '../../edges/cli/solana-command.ts';
import { associatedAccount, keyOf } from '../../platform/chain/solana/addresses.ts';
import { memo, transferChecked, transferLamports } from '../../platform/chain/solana/instructions.ts';
import { adoptForeignTransactions, listForeignTransactions } from '../../platform/operator/watch-store.ts';
import { compareVaults } from './solana-vaults.ts';

const sale = useSolanaSale();
const CHAIN = 'solana_devnet';
const standby = keyOfSeed(solanaRoles.standby.seed);

afterEach(async () => {
  await adoptForeignTransactions(sale.app.ctx.db, CHAIN);
});

const listForeign = () => listForeignTransactions(sale.app.ctx.db, CHAIN);

test('transactions that cannot be read stop no round, and are looked at later', async () => {
  const buyer = await sale.buyer('unreadable');
  const id = await sale.participate(buyer, 8n * UNIT);
  const { settle } = solanaWorker(sale);
  await settle();
  sale.approve(buyer, UNIT);
  sale.land(buyer, [theft(sale, buyer.address, standby.address)], [standby]);
  sale.mine(FINALITY_SLOTS + 1);
  for (const node of sale.solana.nodes) node.faults.recordsInner = false;
  await solanaWorker(sale).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  expect(await listForeign()).toEqual([]);
  for (const node of sale.solana.nodes) node.faults.recordsInner = true;
  await solanaWorker(sale).round();
  expect(await listForeign()).toHaveLength(1);
});

test('a round looks at a few transactions, and the next ones continue', async () => {
  const buyer = await sale.buyer('many');
  for (let i = 1n; i <= 25n; i++) sale.land(buyer, [transferLamports(buyer.address, standby.address, i)]);
  sale.mine(1);
  sale.approve(buyer, UNIT);
  const signature = sale.land(buyer, [theft(sale, buyer.address, standby.address)], [standby]);
  sale.mine(FINALITY_SLOTS + 1);
  const { round } = solanaWorker(sale);
  await round();
  expect(await listForeign()).toEqual([]);
  await round();
  expect(await listForeign()).toEqual([{ signature, address: standby.address, participationId: null }]);
});

test('a transfer that only mentions a fund and its keys is not reported', async () => {
  const buyer = await sale.buyer('mention');
  const id = await sale.participate(buyer, 8n * UNIT);
  const own = associatedAccount(buyer.address, MINT);
  const transfer = { source: own, mint: MINT, destination: own, amount: 0n, decimals: 6, signers: [] };
  const { accounts, data } = transferChecked({ ...transfer, authority: buyer.address });
  const mentioned = [FUND, standby.address, solanaRoles.operator.address].map((each) =>
    readonly(keyOf(each)),
  );
  const signature = sale.land(buyer, [tokenInstruction([data], [...accounts, ...mentioned]), memo(id)]);
  sale.mine(FINALITY_SLOTS + 1);
  expect(sale.solana.chain.ledger.find(signature)?.err).toBeNull();
  await solanaWorker(sale).settle();
  expect(await listForeign()).toEqual([]);
  expect(await sale.statusOf(id)).toBe('submitted');
});

test('a transfer of a fund within a batch is reported', async () => {
  const buyer = await sale.buyer('batch');
  sale.approve(buyer, UNIT);
  const { accounts, data } = theft(sale, buyer.address, standby.address);
  const batch = tokenInstruction([Uint8Array.of(255, accounts.length, data.length), data], accounts);
  const signature = sale.land(buyer, [batch], [standby]);
  sale.mine(FINALITY_SLOTS + 1);
  expect(sale.solana.chain.ledger.find(signature)?.err).toBeNull();
  await solanaWorker(sale).settle();
  expect(await listForeign()).toMatchObject([{ signature }]);
});

test('a vault whose owner moved money is reported', async () => {
  const { db, chains } = sale.app.ctx;
  const compare = async () => (await compareVaults(db, chains.solana(CHAIN)))[0]?.moved ?? 0n;
  const before = await compare();
  await sale.participate(await sale.buyer('vault'), 8n * UNIT);
  await solanaWorker(sale).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
  expect(await compare()).toBe(before);
  const owner = keyOfSeed(solanaRoles.vaultOwner.seed);
  const cold = solanaKey('cold').address;
  setTokenAccount(sale.solana, cold, owner.address, 0n);
  const transfer = { source: VAULT, mint: MINT, destination: cold, amount: 3n * UNIT, decimals: 6 };
  sale.land(owner, [transferChecked({ ...transfer, authority: owner.address, signers: [owner.address] })]);
  sale.mine(FINALITY_SLOTS + 1);
  expect(await compare()).toBe(before - 3n * UNIT);
  await solanaWorker(sale).round();
  expect(sale.app.logged()).toContain('vault balance differs from the settled participations');
});

test('solana adopt names what it adopts, and what then continues', async () => {
  const buyer = await sale.buyer('adopted');
  const id = await sale.participate(buyer, 2n * UNIT);
  const signature = sale.land(buyer, [theft(sale, buyer.address, standby.address), memo(id)], [standby]);
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).round();
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const config = await commandConfig({ app: sale.app });
  for (const option of [['--dry-run'], [], []]) await runSolana(config, ['adopt', CHAIN, ...option]);
  const lines = log.mock.calls.flat();
  log.mockRestore();
  expect(lines).toEqual([
    `${signature} from ${standby.address} would be adopted; the service then settles ${id} itself`,
    '1 transaction would be adopted.',
    `${signature} from ${standby.address} was adopted; the service now settles ${id} itself`,
    'Adopted 1 transaction.',
    'Adopted 0 transactions.',
  ]);
});
