import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import { createWalletClient, custom, type Hex } from 'viem';
import { sepolia } from 'viem/chains';
import { toHex } from 'viem/utils';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { NodeError } from '../../src/platform/chain/rpc/failures.ts';
import type { FollowTimings } from '../../src/platform/operator/follow.ts';
import { type Sale, type SaleOptions, saleWorker, startSale } from './sale.ts';

/** Starts a sale before the tests of a file and closes the sale after them. */
export function useSale(options: SaleOptions = {}): Sale {
  const sale = {} as Sale;
  beforeAll(async () => {
    Object.assign(sale, await startSale(options));
  });
  afterAll(() => sale.close());
  return sale;
}

/** Like `useSale`, but also resumes mining and compares the database with the fund after each test. */
export function useComparedSale(options: SaleOptions = {}): Sale {
  const sale = useSale(options);
  afterEach(async () => {
    sale.resumeMining();
    await expectDatabaseToMatchFund(sale);
  });
  return sale;
}

const HIGH_FEES = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };

/** Sends an empty transfer with the operator's key, without the service's knowledge. */
export async function sendForeignTransaction({ chain }: Sale, nonce?: number): Promise<Hex> {
  const transport = custom(chain.chain);
  const client = createWalletClient({ account: roles.operator, chain: sepolia, transport });
  const call = { to: roles.operator.address, value: 0n, gas: 21_000n, ...HIGH_FEES };
  return client.sendTransaction({ ...call, ...(nonce !== undefined && { nonce }) });
}

/**
 * Stops the fund's operations whose bits are set in `mask`, with a transaction that will come first in the next block.
 */
export function stopFund({ chain, fund }: Sale, mask: bigint): Promise<Hex> {
  return chain.owner.writeContract({
    ...{ address: fund, abi: saleFund.abi, functionName: 'stop', args: [mask], gas: 200_000n, ...HIGH_FEES },
  } as never);
}

/**
 * Removes a participation's commit or refund transaction from the database but not from the chain, like a restore or a
 * failover to a lagging replica. The transaction must be the last one that the operator has sent.
 */
export async function forgetTransaction({ app }: Sale, id: string, kind: 'commit' | 'remit'): Promise<void> {
  const { db } = app.ctx;
  const row = await db
    .selectFrom('participations')
    .select(['commit_id', 'remit_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const transactionId = kind === 'commit' ? row.commit_id : row.remit_id;
  const forgotten =
    kind === 'commit'
      ? sql`status = 'pending', commit_id = null, commit_row = null`
      : sql`remit_id = null, remit_row = null`;
  await sql`update participations set ${forgotten} where id = ${id}`.execute(db);
  await sql`delete from operator_attempts where transaction_id = ${transactionId}`.execute(db);
  await sql`delete from operator_transactions where id = ${transactionId}`.execute(db);
  await sql`update operator_keys set next_nonce = next_nonce - 1, epoch = epoch + 1, seen_nonce = null`.execute(
    db,
  );
}

export function operatorNonce({ chain }: Sale): Promise<number> {
  return chain.direct.getTransactionCount({ address: roles.operator.address });
}

/** Returns the value of `causeway_settlement_waiting` for a reason. */
export async function blockedCount({ app }: Sale, reason: string): Promise<number> {
  const text = await app.ctx.metrics.registry.metrics();
  const pattern = new RegExp(`causeway_settlement_waiting\\{[^}]*reason="${reason}"[^}]*\\} (\\d+)`);
  return Number(pattern.exec(text)?.[1] ?? 0);
}

export type CommitAttempt = { hash: Hex; raw: Hex; maxFee: bigint; transaction: string };

/** Returns the attempts to send a participation's commit transaction, lowest fee first. */
export async function commitAttempts({ app }: Sale, id: string): Promise<CommitAttempt[]> {
  const rows = await app.ctx.db
    .selectFrom('operator_attempts as a')
    .innerJoin('participations as p', 'p.commit_id', 'a.transaction_id')
    .select(['a.hash', 'a.raw', 'a.max_fee', 'a.transaction_id'])
    .where('p.id', '=', id)
    .orderBy('a.max_fee')
    .execute();
  return rows.map(({ hash, raw, max_fee, transaction_id }) => ({
    hash: toHex(hash),
    raw: toHex(raw),
    maxFee: BigInt(max_fee),
    transaction: transaction_id,
  }));
}

/** Returns the attempt with the lowest fee. */
export async function firstAttempt(sale: Sale, id: string): Promise<CommitAttempt> {
  const [first] = await commitAttempts(sale, id);
  if (first === undefined) throw new Error(`participation ${id} has no commit`);
  return first;
}

export async function isKnownToNode({ chain }: Sale, hash: Hex): Promise<boolean> {
  return (await chain.chain.request({ method: 'eth_getTransactionByHash', params: [hash] })) !== null;
}

/** Removes a pending transaction from the pool, as happens when a node restarts or its pool is full. */
export async function dropFromPool({ chain }: Sale, hash: Hex): Promise<void> {
  await chain.chain.request({ method: 'hardhat_dropTransaction', params: [hash] });
}

/** Raises the base fee above the fees of the pending transactions, and mines two blocks without them. */
export async function outbidPending({ chain, mine }: Sale): Promise<void> {
  const setBaseFee = (gwei: bigint) =>
    chain.chain.request({
      method: 'hardhat_setNextBlockBaseFeePerGas',
      params: [toHex(gwei * 1_000_000_000n)],
    });
  for (const gwei of [40n, 40n]) {
    await setBaseFee(gwei);
    await mine(1);
  }
}

/** Lowers the base fee of the next block again. */
export async function lowerBaseFee({ chain }: Sale): Promise<void> {
  await chain.chain.request({ method: 'hardhat_setNextBlockBaseFeePerGas', params: [toHex(1_000_000_000n)] });
}

/** Creates a worker whose node rejects the calls for which `reject` returns an error. */
export function rejectingWorker(
  sale: Sale,
  timings: Partial<FollowTimings>,
  reject: (method: string, params: unknown[]) => NodeError | undefined,
) {
  const created = saleWorker(sale, { timings });
  const { chain } = created.worker.account;
  const request: typeof chain.rpc.request = async (call) => {
    const error = reject(call.method, (call.params ?? []) as unknown[]);
    if (error !== undefined) throw error;
    return chain.rpc.request(call);
  };
  const requestAll: typeof request = async (call) => {
    const error = reject(call.method, (call.params ?? []) as unknown[]);
    if (error !== undefined) throw error;
    return chain.rpc.requestAll(call);
  };
  created.worker.account.chain = { ...chain, rpc: { ...chain.rpc, request, requestAll } };
  return created;
}

const COMMITTED_STATUSES = ['completed', 'remit_submitted', 'remitted', 'remit_failed'];

/** Compares the fund's totals for each buyer with the commits and refunds of USDC in the database. */
export async function expectDatabaseToMatchFund({ app, buyers, totalsOf }: Sale): Promise<void> {
  for (const { address } of buyers) {
    const rows = await app.ctx.db
      .selectFrom('participations')
      .select(['amount', 'status'])
      .where('wallet_address', '=', address)
      .where('asset_id', '=', 'usd-coin')
      .execute();
    const sumOf = (some: typeof rows) => some.reduce((total, { amount }) => total + BigInt(amount), 0n);
    const committed = rows.filter(({ status }) => COMMITTED_STATUSES.includes(status));
    const remitted = sumOf(rows.filter(({ status }) => status === 'remitted'));
    const recorded = { count: BigInt(committed.length), sum: sumOf(committed), remitted };
    expect({ address, ...(await totalsOf(address)) }).toEqual({ address, ...recorded });
  }
}

/**
 * Creates a participation, and signs and sends its commit. The commit stays in the mempool, because mining is paused.
 */
export async function submitCommit(sale: Sale, buyer: number, amount: bigint): Promise<string> {
  await saleWorker(sale).settle();
  await sale.buyer(buyer).approve(10n ** 12n);
  const { id } = await sale.participate(sale.buyer(buyer), amount);
  sale.pauseMining();
  await saleWorker(sale).round();
  expect(await sale.statusOf(id)).toBe('submitted');
  return id;
}
