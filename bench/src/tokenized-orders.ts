import { randomUUID } from 'node:crypto';
import type { Simulators } from '@causeway/sandbox/simulators/start.ts';
import { createWalletClient, type Hex, http, maxUint256, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { percentile } from './statistics.ts';

/**
 * A running service. Requests to `statsUrl` read the service's statistics. Such requests can also prove a wallet, or
 * set the clock and delete the orders.
 */
export type Measured = { url: string; headers: Record<string, string>; statsUrl: string };

/** CPU milliseconds of the service process per transaction (a request to `/v1/tokenized/swap/transaction`). */
export type TransactionCost = {
  /** The mean cost of transactions sent one at a time, minus `idle`. One value per part (see `PARTS`). */
  oneByOne: number[];
  /** The mean cost of transactions sent twenty at a time. One value per part. */
  atOnce: number[];
  /** The median cost of transactions sent one at a time, minus `idle`. */
  p50: number;
  /** The 95th percentile of the cost of transactions sent one at a time, minus `idle`. */
  p95: number;
  /** The CPU time that an idle process uses during the average duration of a transaction that is sent alone. */
  idle: number;
};

const WALLETS = 20;
/**
 * The warm-up takes thousands of transactions, because the JIT is slow to optimize code that runs only once
 * per transaction.
 */
const WARM_UP_ROUNDS = 280;
/**
 * How many parts the measurement has, not counting the warm-up. In each part, every target takes its turn: it gets
 * `ROUNDS_PER_PART` rounds with all transactions at once, and then as many rounds with one transaction at a time.
 */
const PARTS = 5;
const ROUNDS_PER_PART = 4;
const CHAIN = 'ethereum_sepolia';
/** How far each round moves the clock. Must exceed an attestation's lifetime. */
const CLOCK_STEP_MS = 40_000;
const AMOUNT = '10050000';
const abi = parseAbi(['function approve(address spender, uint256 amount)']);

/**
 * Measures the transactions of several targets in turn, after a warm-up. In every round, each wallet sends one
 * transaction. The round starts on a new block and after the previous attestations have expired, so that no chain or
 * venue response is cached.
 */
export async function measureTransactions<T extends Measured[]>(
  simulators: Simulators,
  ...targets: T
): Promise<{ [K in keyof T]: TransactionCost }> {
  const wallets: Hex[] = [];
  for (let count = 0; count < WALLETS; count++) {
    const wallet = await createWallet(simulators);
    for (const { statsUrl } of targets) await fetch(`${statsUrl}/prove/${wallet.toLowerCase()}`);
    wallets.push(wallet);
  }
  let now = Date.now();
  const runRounds = async (target: Measured, rounds: number, orderAll: typeof orderTogether) => {
    const costs: number[] = [];
    let busy = 0;
    for (let round = 0; round < rounds; round++) {
      now += CLOCK_STEP_MS;
      await simulators.control.call('clock/set', { now_ms: now, running: true });
      await simulators.control.call('chains/mine', { chain: CHAIN, blocks: 1 });
      await fetch(`${target.statsUrl}/reset/${now}`);
      const start = performance.now();
      await orderAll(target, wallets);
      busy += performance.now() - start;
      costs.push(...(await readStats(target)).orders);
    }
    return { costs, busy };
  };
  const measurements = targets.map((target) => ({
    target,
    alone: [] as Awaited<ReturnType<typeof runRounds>>[],
    atOnce: [] as number[],
  }));
  for (const target of targets) await runRounds(target, WARM_UP_ROUNDS, orderTogether);
  for (let part = 0; part < PARTS; part++)
    for (const { target, alone, atOnce } of measurements) {
      atOnce.push(average((await runRounds(target, ROUNDS_PER_PART, orderTogether)).costs));
      alone.push(await runRounds(target, ROUNDS_PER_PART, orderOneByOne));
    }
  const results: TransactionCost[] = [];
  for (const { target, alone, atOnce } of measurements) {
    const costs = alone.flatMap((part) => part.costs);
    const busy = alone.reduce((sum, part) => sum + part.busy, 0);
    const idle = await measureIdle(target, busy / costs.length);
    results.push({
      oneByOne: alone.map((part) => average(part.costs) - idle),
      atOnce,
      p50: percentile(costs, 0.5) - idle,
      p95: percentile(costs, 0.95) - idle,
      idle,
    });
  }
  return results as { [K in keyof T]: TransactionCost };
}

function orderTogether(target: Measured, wallets: Hex[]): Promise<unknown> {
  return Promise.all(wallets.map((wallet) => order(target, wallet)));
}

async function orderOneByOne(target: Measured, wallets: Hex[]): Promise<void> {
  for (const wallet of wallets) await order(target, wallet);
}

function average(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the CPU milliseconds that the idle process uses in `duration` milliseconds. */
async function measureIdle(target: Measured, duration: number): Promise<number> {
  const before = await readStats(target);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const after = await readStats(target);
  return ((after.cpu - before.cpu) / (after.at - before.at)) * duration;
}

async function createWallet({ chains, control }: Simulators): Promise<Hex> {
  const [chain] = chains;
  const account = privateKeyToAccount(generatePrivateKey());
  const payment = { chain: CHAIN, address: account.address } as const;
  await control.call('chains/faucet', { ...payment, amount: (10n ** 18n).toString() });
  await control.call('chains/faucet', { ...payment, asset_id: 'usd-coin', amount: '1000000000' });
  const client = createWalletClient({ chain: sepolia, transport: http(chain?.rpc_url), account });
  await client.writeContract({
    address: chain?.deployment.tokens[0]?.address as Hex,
    abi,
    functionName: 'approve',
    args: [chain?.deployment.venue?.swap as Hex, maxUint256],
  });
  return account.address;
}

async function order({ url, headers }: Measured, wallet_address: Hex): Promise<void> {
  const reply = await fetch(`${url}/v1/tokenized/swap/transaction`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify({ amount: AMOUNT, chain: CHAIN, symbol: 'AAPLon', wallet_address }),
  });
  if (reply.status !== 200) throw new Error(`transaction failed: ${await reply.text()}`);
  await reply.arrayBuffer();
}

export type Stats = {
  /** The CPU time of the process (user and system), in milliseconds. */
  cpu: number;
  /** When `cpu` was measured, in milliseconds. */
  at: number;
  /**
   * The cost of each transaction since the statistics were last read: the CPU milliseconds from the end of the previous
   * transaction to the end of this one.
   */
  orders: number[];
  served: number;
  venue: number;
};

export async function readStats({ statsUrl }: Measured): Promise<Stats> {
  return (await (await fetch(statsUrl)).json()) as Stats;
}
