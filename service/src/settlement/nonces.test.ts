import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import type { Hex } from 'viem';
import { toHex } from 'viem/utils';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  expectBooksToAgree,
  type Sale,
  saleWorker,
  startSale,
  UNIT,
  useKeyElsewhere,
} from '../../test/support/sale.ts';
import { NodeError } from '../chain/evm/failures.ts';
import { adoptNonce } from './adopt.ts';

/** What becomes of transactions that are not mined, not as they should be, or in a place that somebody else took. */

let sale: Sale;

beforeAll(async () => {
  sale = await startSale();
});
afterAll(() => sale.close());
afterEach(async () => {
  resume();
  await expectBooksToAgree(sale);
});

const HIGH = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };

const at = (i: number) => sale.buyer(i);

/** No block is mined from here on, unless it is asked for. */
const hold = () => sale.chain.chain.setBlockInterval(1e8);
const resume = () => sale.chain.chain.setBlockInterval(0);
const mine = (blocks: number) => sale.chain.chain.mine(blocks);
const undo = (transactions: 'return' | 'drop') => sale.chain.chain.reorg({ depth: 1, transactions });

async function waiting(reason: string): Promise<number> {
  const text = await sale.app.ctx.metrics.render();
  return Number(
    new RegExp(`causeway_settlement_waiting\\{[^}]*reason="${reason}"[^}]*\\} (\\d+)`).exec(text)?.[1] ?? 0,
  );
}

/** The bytes of the commit of a participation, cheapest first. */
async function attemptsOf(
  id: string,
): Promise<{ hash: Hex; raw: Hex; maxFee: bigint; transaction: string }[]> {
  const rows = await sale.app.ctx.db
    .selectFrom('operator_attempts as a')
    .innerJoin('participations as p', 'p.commit_id', 'a.transaction_id')
    .select(['a.hash', 'a.raw', 'a.max_fee', 'a.transaction_id'])
    .where('p.id', '=', id)
    .orderBy('a.max_fee')
    .execute();
  return rows.map(({ hash, raw, max_fee, transaction_id }) => ({
    ...{ hash: toHex(hash), raw: toHex(raw), maxFee: BigInt(max_fee), transaction: transaction_id },
  }));
}

const isKnown = async (hash: Hex) =>
  (await sale.chain.chain.request({ method: 'eth_getTransactionByHash', params: [hash] })) !== null;
/** As a node does that was started anew, or whose pool is full. */
const forget = (hash: Hex) => sale.chain.chain.request({ method: 'hardhat_dropTransaction', params: [hash] });

/** A worker whose node may refuse what it is asked. */
function workerWith(pace: object, refuse: (method: string, params: unknown[]) => NodeError | undefined) {
  const made = saleWorker(sale, { pace });
  const { chain } = made.worker.operator;
  const request: typeof chain.rpc.request = async (call) => {
    const refusal = refuse(call.method, (call.params ?? []) as unknown[]);
    if (refusal !== undefined) throw refusal;
    return chain.rpc.request(call);
  };
  made.worker.operator.chain = { ...chain, rpc: { ...chain.rpc, request } };
  return made;
}

describe('a transaction that is not mined', () => {
  test('and that the node has forgotten is sent again, byte for byte', async () => {
    const { round, settle } = saleWorker(sale, { pace: { resend: -1 } });
    const { id } = await sale.participate(at(0), 2n * UNIT);
    hold();
    await round();
    const [sent] = await attemptsOf(id);
    await forget(sent?.hash ?? '0x');
    expect(await isKnown(sent?.hash ?? '0x')).toBe(false);
    await round();
    expect(await isKnown(sent?.hash ?? '0x')).toBe(true);
    expect(await attemptsOf(id)).toEqual([sent]);
    resume();
    await mine(1);
    await settle();
    expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'completed']);
  });

  test('keeps its rows however many blocks go by: they are never given to another', async () => {
    const { round } = saleWorker(sale);
    const { id } = await sale.participate(at(0), 2n * UNIT);
    hold();
    await round();
    const [sent] = await attemptsOf(id);
    await forget(sent?.hash ?? '0x');
    await mine(80);
    for (let i = 0; i < 3; i++) await round();
    expect(await sale.statusOf(id)).toBe('submitted');
    expect(await attemptsOf(id)).toEqual([sent]);
    resume();
    await saleWorker(sale, { pace: { resend: -1 } }).settle();
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await attemptsOf(id)).toEqual([sent]);
  });

  test('and has reached the fee cap raises an alert, and is still sent again', async () => {
    const { worker, round, settle } = saleWorker(sale, { pace: { resend: -1, bump: -1 } });
    const { id } = await sale.participate(at(0), 2n * UNIT);
    hold();
    await round();
    const [sent] = await attemptsOf(id);
    worker.operator.maxFee = sent?.maxFee ?? 0n;
    await forget(sent?.hash ?? '0x');
    await round();
    expect(await waiting('fee_cap')).toBeGreaterThan(0);
    expect(await isKnown(sent?.hash ?? '0x')).toBe(true);
    expect(await attemptsOf(id)).toEqual([sent]);
    resume();
    await mine(1);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await waiting('fee_cap')).toBe(0);
  });

  test('because nodes find it too cheap to take is signed again for more', async () => {
    let refused = 0;
    const { round, settle } = workerWith({ resend: -1, bump: -1 }, (method) => {
      if (method !== 'eth_sendRawTransaction' || refused >= 2) return undefined;
      refused++;
      return new NodeError(-32_000, 'max fee per gas less than block base fee', undefined);
    });
    const { id } = await sale.participate(at(0), 2n * UNIT);
    await round();
    expect(await sale.statusOf(id)).toBe('submitted');
    await round();
    const [first, second, ...more] = await attemptsOf(id);
    expect(more).toEqual([]);
    expect(second?.maxFee).toBeGreaterThan(((first?.maxFee ?? 0n) * 9n) / 8n);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('because nodes refuse it for another reason raises an alert and costs no more', async () => {
    let refuses = true;
    const { round, settle } = workerWith({ resend: -1, bump: -1 }, (method) =>
      refuses && method === 'eth_sendRawTransaction'
        ? new NodeError(-32_000, 'the pool is full', undefined)
        : undefined,
    );
    const { id } = await sale.participate(at(0), 2n * UNIT);
    await round();
    await round();
    expect(await waiting('refused')).toBeGreaterThan(0);
    expect((await attemptsOf(id)).length).toBe(1);
    refuses = false;
    await settle();
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await waiting('refused')).toBe(0);
  });

  test('and was replaced counts once, when the first of the two is the one that is mined', async () => {
    let sent = 0;
    const { round, settle } = workerWith({ bump: -1 }, (method) => {
      if (method !== 'eth_sendRawTransaction' || ++sent !== 2) return undefined;
      return new NodeError(-32_000, 'replacement transaction underpriced', undefined);
    });
    const { id } = await sale.participate(at(1), 2n * UNIT);
    hold();
    await round();
    await round();
    const [first, second] = await attemptsOf(id);
    expect([await isKnown(first?.hash ?? '0x'), await isKnown(second?.hash ?? '0x')]).toEqual([true, false]);
    await mine(1);
    resume();
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    const { mined_hash } = await sale.app.ctx.db
      .selectFrom('operator_transactions')
      .select('mined_hash')
      .where('id', '=', first?.transaction ?? '')
      .executeTakeFirstOrThrow();
    expect(toHex(mined_hash ?? Buffer.alloc(0))).toBe(first?.hash);
  });
});

describe('a commit that reverted for no fault of its rows', () => {
  const stop = (bits: bigint) =>
    sale.chain.owner.writeContract({
      ...{
        address: sale.fund,
        abi: saleFund.abi,
        functionName: 'stop',
        args: [bits],
        gas: 200_000n,
        ...HIGH,
      },
    } as never);

  /** The fund is stopped in the very block of the commit, just before it. */
  async function revertCommit(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push((await sale.participate(at(2 + i), 3n * UNIT)).id);
    hold();
    await saleWorker(sale).round();
    const [sent] = await attemptsOf(ids[0] ?? '');
    await forget(sent?.hash ?? '0x');
    await stop(2n);
    await sale.chain.chain.request({ method: 'eth_sendRawTransaction', params: [sent?.raw] });
    await mine(1);
    resume();
    return ids;
  }

  const statuses = (ids: string[]) => Promise.all(ids.map((id) => sale.statusOf(id)));

  test.each([
    [1, 'alone'],
    [3, 'in a batch'],
  ])('leaves its rows (%i, %s) to another one when it lies 64 blocks deep, and not before', async (count) => {
    const ids = await revertCommit(count);
    const [first] = await attemptsOf(ids[0] ?? '');
    const { settle } = saleWorker(sale);
    await settle();
    expect(await waiting('fund_stopped')).toBeGreaterThan(0);
    await stop(0n);
    await mine(61);
    await settle();
    expect(await statuses(ids)).toEqual(ids.map(() => 'submitted'));
    await mine(1);
    await settle();
    await settle();
    expect(await statuses(ids)).toEqual(ids.map(() => 'completed'));
    for (const id of ids) {
      expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'pending', 'submitted', 'completed']);
      expect((await attemptsOf(id))[0]?.transaction).not.toBe(first?.transaction);
    }
  });

  test('is mined again, and counts once, when a reorganisation undoes it before', async () => {
    const ids = await revertCommit(2);
    const [first] = await attemptsOf(ids[0] ?? '');
    await saleWorker(sale).settle();
    await undo('drop');
    await saleWorker(sale, { pace: { resend: -1 } }).settle();
    await saleWorker(sale).settle();
    expect(await statuses(ids)).toEqual(['completed', 'completed']);
    for (const id of ids) expect((await attemptsOf(id))[0]?.transaction).toBe(first?.transaction);
    await mine(70);
    await saleWorker(sale).settle();
    for (const id of ids) expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'completed']);
  });

  test('does not stop settlement where the node no longer knows why, and leaves its rows to another one too', async () => {
    const ids = await revertCommit(1);
    await stop(0n);
    const { settle } = workerWith({}, (method, params) =>
      method === 'eth_call' && params[1] !== 'latest'
        ? new NodeError(-32_000, 'missing trie node', undefined)
        : undefined,
    );
    const other = await sale.participate(at(0), 2n * UNIT);
    await settle();
    await settle();
    expect(await statuses([...ids, other.id])).toEqual(['submitted', 'completed']);
    await mine(64);
    await settle();
    await settle();
    expect(await statuses(ids)).toEqual(['completed']);
  });

  test('does not use up the number of transactions that may be under way', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 8; i++) {
      ids.push((await sale.participate(at(i % 6), 3n * UNIT)).id);
      hold();
      await saleWorker(sale).round();
      for (const { hash } of await attemptsOf(ids.at(-1) ?? '')) await forget(hash);
      resume();
    }
    hold();
    await stop(2n);
    await saleWorker(sale, { pace: { resend: -1 } }).round();
    await mine(1);
    resume();
    await stop(0n);
    const other = await sale.participate(at(0), 2n * UNIT);
    await saleWorker(sale).settle();
    await saleWorker(sale).settle();
    expect(await sale.statusOf(other.id)).toBe('completed');
    expect(await statuses(ids)).toEqual(ids.map(() => 'submitted'));
    await mine(64);
    await saleWorker(sale).settle();
    await saleWorker(sale).settle();
    expect(new Set(await statuses(ids))).toEqual(new Set(['completed', 'failed']));
  });
});

describe('the place of a foreign transaction that was undone', () => {
  const fills = () =>
    sale.app.ctx.db
      .selectFrom('operator_transactions')
      .select(['state', 'nonce'])
      .where('kind', '=', 'fill')
      .orderBy('nonce')
      .execute();

  /** A row that waits, and a nonce after one that is free again. */
  async function makeGap(transactions: 'return' | 'drop'): Promise<string> {
    const { id } = await sale.participate(at(4), 4n * UNIT);
    await useKeyElsewhere(sale);
    await adoptNonce(sale.app.ctx, saleWorker(sale).worker.operator);
    hold();
    await undo(transactions);
    return id;
  }

  test('is filled, so that what comes after it can be mined', async () => {
    const id = await makeGap('drop');
    const { round, settle } = saleWorker(sale, { pace: { suspect: 0 } });
    await round();
    expect((await fills()).map(({ state }) => state)).toEqual(['open']);
    expect(await sale.statusOf(id)).toBe('submitted');
    resume();
    await mine(1);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect((await fills()).map(({ state }) => state)).toEqual(['settled']);
    expect(await waiting('foreign_nonce')).toBe(0);
  });

  test('may be taken by that transaction after all, and is filled when that is undone once more', async () => {
    const id = await makeGap('return');
    const { round, settle } = saleWorker(sale, { pace: { suspect: 0, resend: -1 } });
    await round();
    await mine(1);
    await settle();
    await settle();
    expect(await waiting('foreign_nonce')).toBe(0);
    expect((await fills()).at(-1)?.state).toBe('displaced');
    const before = await sale.chain.direct.getTransactionCount({ address: roles.operator.address });
    expect((await fills()).at(-1)?.nonce).toBeLessThan(BigInt(before));
    await undo('drop');
    await settle();
    await settle();
    expect((await fills()).at(-1)?.state).toBe('open');
    resume();
    await mine(1);
    await settle();
    expect((await fills()).at(-1)?.state).toBe('settled');
    expect(await sale.statusOf(id)).toBe('completed');
  });
});

describe('a transaction whose nonce somebody else has used', () => {
  async function displace(): Promise<string> {
    const { round } = saleWorker(sale, { pace: { suspect: 0 } });
    const { id } = await sale.participate(at(5), 5n * UNIT);
    const nonce = await sale.chain.direct.getTransactionCount({ address: roles.operator.address });
    hold();
    await round();
    await useKeyElsewhere(sale, nonce);
    await mine(1);
    resume();
    await round();
    expect(await sale.statusOf(id)).toBe('submitted');
    expect(await waiting('foreign_nonce')).toBeGreaterThan(0);
    return id;
  }

  test('is mined after all when that one is undone, without any help', async () => {
    const id = await displace();
    const [sent] = await attemptsOf(id);
    await undo('drop');
    await saleWorker(sale, { pace: { resend: -1 } }).settle();
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await attemptsOf(id)).toEqual([sent]);
    expect(await waiting('foreign_nonce')).toBe(0);
  });

  test('has its rows given to another by a person, who is refused while that one could be undone', async () => {
    const id = await displace();
    const { worker, settle } = saleWorker(sale);
    await expect(adoptNonce(sale.app.ctx, worker.operator)).rejects.toThrow('64 blocks');
    await mine(62);
    await expect(adoptNonce(sale.app.ctx, worker.operator)).rejects.toThrow('64 blocks');
    expect(await sale.statusOf(id)).toBe('submitted');
    await mine(1);
    await adoptNonce(sale.app.ctx, worker.operator);
    expect(await sale.statusOf(id)).toBe('pending');
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });
});
