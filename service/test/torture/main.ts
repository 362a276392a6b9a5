import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Environment, startEnvironment } from './environment.ts';
import { startEvm } from './evm-chain.ts';
import { countAcknowledged, createInvestor, type Investor } from './investor.ts';
import { createRandomChoices, type RandomChoices } from './random-choices.ts';
import { startSolana } from './solana-chain.ts';
import { countUnfinished, verify } from './verify.ts';

// While investors participate, kills two service processes and their database, injects RPC faults and reorganizes the
// chain, all at random moments. At the end, the chain and the database must agree.
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    clients: { type: 'string', default: '6' },
    fund: { type: 'string' },
    keys: { type: 'string' },
    chain: { type: 'string', default: 'evm' },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
const generation = (values.fund === undefined ? seed % 2 === 0 : values.fund === '1') ? 1 : 2;
if (values.chain !== 'evm' && values.chain !== 'solana') throw new Error('--chain must be evm or solana');
const keys = (values.keys === undefined ? seed % 2 === 0 : values.keys === '1') ? 1 : 2;
const chain = values.chain === 'solana' ? await startSolana(keys) : await startEvm(generation);
console.log(
  `torture: ${kills} kills on ${chain.name}, seed ${seed} (repeat with --seed ${seed} ${chain.flags})`,
);

const FAULTS = ['down', 'slow', 'garbage', 'rate_limited', 'stale'] as const;
/** Time for everything to settle after the last fault. */
const SETTLE_TIMEOUT_MS = 150_000;
/**
 * How long a kill waits, at most, for enough work to interrupt. This must be longer than the service waits before it
 * fails a participation whose approval is lost. Every kill makes the service start that wait again. If kills followed
 * each other more quickly, such participations would never fail, and all investors could end up waiting for a
 * participation of this kind.
 */
const WORK_TIMEOUT_MS = 60_000;
const startedAt = performance.now();
const environment = await startEnvironment(chain);
let over = false;
try {
  const random = createRandomChoices(seed);
  const investors: Investor[] = [];
  for (let i = 0; i < Number(values.clients); i++)
    investors.push(await createInvestor(environment, createRandomChoices(seed + i + 1), i, () => over));
  const running = Promise.all(investors.map(({ run }) => run()));
  const counts = await injectFaults(environment, random, investors);
  over = true;
  await running;
  await settleAll(environment);
  const { problems, figures } = await verify(environment, investors);
  if (countAcknowledged(investors) < kills / 2)
    problems.push('too few participations were created to prove anything');
  console.log({ ...counts, ...figures, seconds: Math.round((performance.now() - startedAt) / 1000) });
  for (const problem of problems) console.error(`PROBLEM ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
  console.log(
    problems.length === 0
      ? 'the chain and the database agree'
      : `the chain and the database differ (seed ${seed})`,
  );
} finally {
  over = true;
  await environment.close();
}
process.exit();

async function injectFaults(environment: Environment, random: RandomChoices, investors: readonly Investor[]) {
  const { nodes, built } = environment;
  const counts: Record<string, number> = { kills: 0, database_kills: 0, faults: 0, rollbacks: 0 };
  const count = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const pending: Promise<void>[] = [];
  for (let done = 0; done < kills; ) {
    await sleep(100 + random.integer(1_100));
    await waitForWork(environment, investors, done);
    const alive = nodes.filter(({ url }) => url !== null);
    if (alive.length === 0) continue;
    if (random.chance(0.25)) {
      random.pick(chain.rpcs).fault.set(random.pick(FAULTS), 0.2 + random.integer(10) / 10);
      count('faults');
    }
    for (const name of await chain.disturb(random, (work) => pending.push(work))) count(name);
    await chain.attend(built.ctx).catch(() => undefined);
    // Every run rolls the database back at least once, in its second half at the latest.
    if (random.chance(0.06) || (counts.rollbacks === 0 && done >= kills / 2)) {
      await Promise.all(pending);
      if (random.chance(0.5)) await chain.holdTransactions?.(built.ctx).catch(() => undefined);
      if (await rollBack(environment)) count('rollbacks');
    }
    if (random.chance(0.25)) {
      await environment.killDatabase();
      count('database_kills');
    } else {
      const victim = random.pick(alive);
      victim.kill();
      pending.push(sleep(random.integer(300)).then(() => victim.restart()));
    }
    count('kills');
    done++;
    if (done % 10 === 0) process.stdout.write(`\r${done} of ${kills} kills `);
  }
  process.stdout.write('\n');
  await Promise.all(pending);
  return counts;
}

/** Rolls the database back to a state before its last transactions, like a failover to a lagging replica. */
async function rollBack({ built: { ctx }, nodes }: Environment): Promise<boolean> {
  for (const { fault } of chain.rpcs) fault.set('none');
  for (const node of nodes) node.kill();
  const isRolledBack = await chain.forgetTransactions(ctx);
  for (const node of nodes) await node.restart();
  return isRolledBack;
}

/**
 * Waits until `minimum` participations are acknowledged. Otherwise, kills would interrupt nothing on a slow machine.
 */
async function waitForWork(
  { built }: Environment,
  investors: readonly Investor[],
  minimum: number,
): Promise<void> {
  const until = performance.now() + WORK_TIMEOUT_MS;
  while (countAcknowledged(investors) < minimum && performance.now() < until) {
    await chain.attend(built.ctx).catch(() => undefined);
    await sleep(200);
  }
}

/** Ends all faults and waits until every participation has a final status. */
async function settleAll(environment: Environment): Promise<void> {
  const { nodes, built } = environment;
  for (const { fault } of chain.rpcs) fault.set('none');
  for (const node of nodes) if (node.url === null) await node.restart();
  const until = performance.now() + SETTLE_TIMEOUT_MS;
  while (performance.now() < until) {
    await chain.calm();
    await chain.attend(built.ctx).catch(() => undefined);
    await sleep(200);
    if ((await countUnfinished(environment).catch(() => -1)) === 0) return;
  }
  console.error('some participations did not settle in time');
}
