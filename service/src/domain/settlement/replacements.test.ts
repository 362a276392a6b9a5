import { parseTransaction } from 'viem/utils';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { expectAudited } from '../../../test/support/audited.ts';
import { commandConfig, saleWorker, UNIT } from '../../../test/support/sale.ts';
import { commitAttempts, dropFromPool, rejectingWorker, useSale } from '../../../test/support/settlement.ts';
import { run as runOperator } from '../../edges/cli/operator-command.ts';
import type { Config } from '../../kernel/config/config.ts';
import { NodeError } from '../../platform/chain/rpc/failures.ts';

const sale = useSale();
let config: Config;
beforeAll(async () => {
  config = await commandConfig(sale);
});
afterEach(() => {
  sale.resumeMining();
  vi.restoreAllMocks();
});

async function run(...args: string[]): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  log.mockClear();
  await runOperator(config, args);
  return log.mock.calls.flat().join('\n');
}

/** Commits a participation whose transaction stays unmined. */
async function stuckCommit(buyer: number): Promise<string> {
  const { id } = await sale.participate(sale.buyer(buyer), 2n * UNIT);
  sale.pauseMining();
  await saleWorker(sale).round();
  expect(await sale.statusOf(id)).toBe('submitted');
  return id;
}

/** Runs a command and, once the command has stored its request, calls `work` to carry out the request. */
async function runBesideWorker(work: () => Promise<unknown>, ...args: string[]): Promise<string> {
  const running = run(...args);
  running.catch(() => undefined);
  const requested = async () =>
    (await sale.app.ctx.db.selectFrom('operator_transactions').select('requested').execute()).some(
      (each) => each.requested !== null,
    );
  await expect.poll(requested, { interval: 20 }).toBe(true);
  await work();
  return running;
}

const isEmpty = ({ raw }: { raw: `0x${string}` }) => parseTransaction(raw).data === undefined;

test('bump replaces the oldest transaction by one with higher fees; the dry run requests nothing', async () => {
  const id = await stuckCommit(0);
  const plan = JSON.parse(await run('bump', 'ethereum_sepolia', '--dry-run'));
  expect(plan).toMatchObject({ action: 'bump', kind: 'commit', participation_ids: [id] });
  expect(BigInt(plan.new_max_fee_wei)).toBeGreaterThan(BigInt(plan.max_fee_wei));
  await expect(run('bump', 'ethereum_sepolia')).rejects.toThrow('Not confirmed');
  await saleWorker(sale).round();
  expect(await commitAttempts(sale, id)).toHaveLength(1);
  const { round, settle } = saleWorker(sale);
  expect(await runBesideWorker(round, 'bump', 'ethereum_sepolia', '--yes')).toContain('Replaced.');
  const [first, second] = await commitAttempts(sale, id);
  expect(second?.maxFee).toBeGreaterThan(first?.maxFee ?? 0n);
  await sale.mine(1);
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
  await expect(run('bump', 'ethereum_sepolia', '--yes')).rejects.toThrow('is waiting to be mined');
});

test('a cancelled commit returns to pending only once the cancellation is deep, and is committed once', async () => {
  const id = await stuckCommit(1);
  const { round, settle } = saleWorker(sale);
  await runBesideWorker(round, 'cancel', 'ethereum_sepolia', '--yes');
  const attempts = await commitAttempts(sale, id);
  expect(attempts.map(isEmpty)).toEqual([false, true]);
  await expect(run('cancel', 'ethereum_sepolia', '--yes')).rejects.toThrow('is already an empty transfer');
  // A cancelled transaction stays an empty transfer when its fees are raised.
  await runBesideWorker(round, 'bump', 'ethereum_sepolia', '--yes');
  expect((await commitAttempts(sale, id)).map(isEmpty)).toEqual([false, true, true]);
  await sale.mine(1);
  await settle();
  expect(await sale.statusOf(id)).toBe('submitted');
  sale.resumeMining();
  await sale.mine(70);
  await settle();
  await settle();
  expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'pending', 'submitted', 'completed']);
  expect((await sale.totalsOf(sale.buyer(1).address)).count).toBe(1n);
  await expectAudited(sale.app.ctx, 'transaction.cancel_requested');
});

test('a commit that is mined in spite of its cancellation completes its row', async () => {
  const id = await stuckCommit(2);
  const { round, settle } = saleWorker(sale);
  await runBesideWorker(round, 'cancel', 'ethereum_sepolia', '--yes');
  const [commit, cancellation] = await commitAttempts(sale, id);
  if (commit === undefined || cancellation === undefined) throw new Error('an attempt is missing');
  await dropFromPool(sale, cancellation.hash);
  await sale.chain.chain.request({ method: 'eth_sendRawTransaction', params: [commit.raw] });
  await sale.mine(1);
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
  expect((await sale.totalsOf(sale.buyer(2).address)).count).toBe(1n);
});

test('a stored cancellation is sent by the next node if this one stops before sending it', async () => {
  const id = await stuckCommit(3);
  const refuse = (method: string) =>
    method === 'eth_sendRawTransaction' ? new NodeError(-32000, 'down', undefined) : undefined;
  const { round } = rejectingWorker(sale, {}, refuse);
  await runBesideWorker(round, 'cancel', 'ethereum_sepolia', '--yes');
  const [, cancellation] = await commitAttempts(sale, id);
  const isKnown = async () =>
    (await sale.chain.chain.request({
      method: 'eth_getTransactionByHash',
      params: [cancellation?.hash ?? '0x'],
    })) !== null;
  expect(await isKnown()).toBe(false);
  const { settle } = saleWorker(sale);
  await settle();
  expect(await isKnown()).toBe(true);
  sale.resumeMining();
  await sale.mine(70);
  await settle();
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
  expect((await sale.totalsOf(sale.buyer(3).address)).count).toBe(1n);
});

test('a request for a transaction that was mined first changes nothing', async () => {
  const id = await stuckCommit(4);
  const { settle } = saleWorker(sale);
  const work = async () => {
    await sale.mine(1);
    await settle();
  };
  expect(await runBesideWorker(work, 'cancel', 'ethereum_sepolia', '--yes')).toContain('mined first');
  expect(await commitAttempts(sale, id)).toHaveLength(1);
  expect(await sale.statusOf(id)).toBe('completed');
});

test('a request beyond the fee caps is refused with the reason and does not block later rounds', async () => {
  const id = await stuckCommit(5);
  const capped = saleWorker(sale);
  capped.worker.account.maxFee = (await commitAttempts(sale, id))[0]?.maxFee ?? 0n;
  const running = runBesideWorker(capped.round, 'bump', 'ethereum_sepolia', '--yes');
  await expect(running).rejects.toThrow('fee cap');
  expect(await commitAttempts(sale, id)).toHaveLength(1);
  await sale.mine(1);
  await saleWorker(sale).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  await expect(run('bump', 'ethereum_sepolia', '--nonce', 'x')).rejects.toThrow('--nonce');
  await expect(run('bump', 'ethereum_sepolia', '--nonce', '999', '--dry-run')).rejects.toThrow(
    'with nonce 999 is waiting to be mined',
  );
});
