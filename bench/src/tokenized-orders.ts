import { randomUUID } from 'node:crypto';
import type { Simulators } from '@causeway/sandbox/simulators/start.ts';
import { createWalletClient, type Hex, http, maxUint256, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { MIN_ROUNDS } from './load.ts';
import { percentile } from './statistics.ts';
import type { Started } from './target.ts';

/**
 * A running service. Requests to `statsUrl` read the service's statistics. Such requests can also prove a wallet, or
 * set the clock and delete the orders.
 */
export type Measured = { url: string; headers: Record<string, string>; statsUrl: string };

/**
 * CPU milliseconds of the service process per transaction (a request to `/v1/tokenized/swap/transaction`). Every array
 * has one value per process.
 */
export type TransactionCost = {
  /** The mean cost of transactions sent one at a time, minus `idle`. */
  oneByOne: number[];
  /** The mean cost of transactions sent twenty at a time. */
  atOnce: number[];
  /** The median cost of transactions sent one at a time, minus `idle`. */
  p50: number[];
  /** The 95th percentile of the cost of transactions sent one at a time, minus `idle`. */
  p95: number[];
  /** The CPU time that an idle process uses during the average duration of a transaction that is sent alone. */
  idle: number[];
};

const WALLETS = 20;
/**
 * The warm-up takes thousands of transactions, because the JIT is slow to optimize code that runs only once
 * per transaction.
 */
const WARM_UP_ROUNDS = 160;
/** How many rounds are measured in each process with one transaction at a time, and how many with all at once. */
const MEASURED_ROUNDS = 8;
const CHAIN = 'ethereum_sepolia';
/** How far each round moves the clock. Must exceed an attestation's lifetime. */
const CLOCK_STEP_MS = 40_000;
const AMOUNT = '10050000';
const abi = parseAbi(['function approve(address spender, uint256 amount)']);

/**
 * Measures the transactions of several services in turn. Each turn starts a new process, because processes with the
 * same code differ by up to a tenth. In every round, each wallet sends one transaction. The round starts on a new block
 * and after the previous attestations have expired, so that no chain or venue response is cached.
 */
export async function measureTransactions<Name extends string>(
  simulators: Simulators,
  services: Record<Name, () => Promise<Started<Measured>>>,
): Promise<Record<Name, TransactionCost>> {
  const wallets: Hex[] = [];
  for (let count = 0; count < WALLETS; count++) wallets.push(await createWallet(simulators));
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
  const measureProcess = async (target: Measured) => {
    for (const wallet of wallets) await fetch(`${target.statsUrl}/prove/${wallet.toLowerCase()}`);
    await runRounds(target, WARM_UP_ROUNDS, orderTogether);
    // Waits until the warm-up's connections are closed. Otherwise, closing them would count as part of the transactions.
    await measureIdle(target);
    await runRounds(target, 1, orderOneByOne);
    const alone = await runRounds(target, MEASURED_ROUNDS, orderOneByOne);
    const idle = (await measureIdle(target)) * (alone.busy / alone.costs.length);
    const together = await runRounds(target, MEASURED_ROUNDS, orderTogether);
    return {
      oneByOne: average(alone.costs) - idle,
      atOnce: average(together.costs),
      p50: percentile(alone.costs, 0.5) - idle,
      p95: percentile(alone.costs, 0.95) - idle,
      idle,
    };
  };
  const costs = Object.fromEntries(
    Object.keys(services).map((name) => [name, { oneByOne: [], atOnce: [], p50: [], p95: [], idle: [] }]),
  ) as unknown as Record<Name, TransactionCost>;
  for (let round = 0; round < MIN_ROUNDS; round++)
    for (const name of Object.keys(services) as Name[]) {
      const { target, stop } = await services[name]();
      const measured = await measureProcess(target).finally(stop);
      for (const key of Object.keys(measured) as (keyof TransactionCost)[])
        costs[name][key].push(measured[key]);
    }
  return costs;
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

/** Returns the CPU milliseconds that the idle process uses per millisecond. */
async function measureIdle(target: Measured): Promise<number> {
  const before = await readStats(target);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const after = await readStats(target);
  return (after.cpu - before.cpu) / (after.at - before.at);
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
