import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { nextNonce, transact } from '@causeway/sandbox/simulators/chains/transact.ts';
import { encodeFunctionData } from 'viem/utils';
import { rollBack, spikeFees, stallBlocks } from './disasters.ts';
import { type Environment, startEnvironment } from './environment.ts';
import { countAcknowledged, createInvestor, type Investor } from './investor.ts';
import { createRandomChoices, MAX_REORGANISATION_DEPTH, type RandomChoices } from './random-choices.ts';
import { countUnfinished, verify } from './verify.ts';

// Kills two processes of the service and their database, injects RPC faults and reorganises the chain at random moments
// while investors participate. At the end the chain and the database must agree.
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    clients: { type: 'string', default: '6' },
    fund: { type: 'string' },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
const generation = (values.fund === undefined ? seed % 2 === 0 : values.fund === '1') ? 1 : 2;
console.log(
  `torture: ${kills} kills, fund of generation ${generation}, seed ${seed} (repeat with --seed ${seed} --fund ${generation})`,
);

const FAULTS = ['down', 'slow', 'garbage', 'rate_limited', 'stale'] as const;
/** Time for everything to settle after the last fault. */
const SETTLE_TIMEOUT_MS = 90_000;
/** Maximum time a kill waits until there is enough work to interrupt. */
const WORK_TIMEOUT_MS = 15_000;
const startedAt = performance.now();
const environment = await startEnvironment(generation);
let over = false;
try {
  const random = createRandomChoices(seed);
  const investors = Array.from({ length: Number(values.clients) }, (_, i) =>
    createInvestor(environment, createRandomChoices(seed + i + 1), i, () => over),
  );
  await fundInvestors(environment, investors);
  const running = Promise.all(investors.map(({ run }) => run()));
  const counts = await injectFaults(environment, random, investors);
  over = true;
  await running;
  await settleAll(environment, investors);
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

/** Sends ether and USDC to the investors, and mines enough blocks that no reorganisation undoes it. */
async function fundInvestors({ chain }: Environment, investors: readonly Investor[]): Promise<void> {
  const usdc = chain.deployment.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address ?? '0x';
  for (const { address } of investors) {
    const data = encodeFunctionData({ abi: token.abi, functionName: 'mint', args: [address, 10n ** 15n] });
    for (const payment of [
      { to: address, value: 10n ** 19n },
      { to: usdc, data },
    ]) {
      const nonce = await nextNonce(chain.chain, roles.deployer.address);
      await transact(chain.chain, roles.deployer, { ...payment, chainId: 11_155_111, nonce });
    }
  }
  await chain.chain.mine(8);
}

async function injectFaults(environment: Environment, random: RandomChoices, investors: readonly Investor[]) {
  const counts = {
    ...{ kills: 0, database_kills: 0, faults: 0, reorganisations: 0 },
    ...{ fee_spikes: 0, stalls: 0, rollbacks: 0 },
  };
  const restarts: Promise<void>[] = [];
  while (counts.kills < kills) {
    await sleep(100 + random.integer(1_100));
    await waitForWork(investors, counts.kills);
    const alive = environment.nodes.filter(({ url }) => url !== null);
    if (alive.length === 0) continue;
    if (random.chance(0.25)) {
      random.pick(environment.rpcs).fault.set(random.pick(FAULTS), 0.2 + random.integer(10) / 10);
      counts.faults++;
    }
    if (random.chance(0.1)) {
      await spikeFees(environment, 5n + BigInt(random.integer(60)));
      counts.fee_spikes++;
    }
    if (random.chance(0.08)) {
      restarts.push(stallBlocks(environment, 500 + random.integer(2_000)));
      counts.stalls++;
    }
    // Every run rolls back at least once, in its second half.
    if (random.chance(0.06) || (counts.rollbacks === 0 && counts.kills >= kills / 2)) {
      await Promise.all(restarts);
      if (await rollBack(environment)) counts.rollbacks++;
    }
    if (random.chance(0.12)) {
      const transactions = random.chance(0.5) ? 'return' : 'drop';
      await environment.chain.chain.reorg({
        depth: 1 + random.integer(MAX_REORGANISATION_DEPTH),
        transactions,
      });
      await environment.chain.chain.mine(1);
      for (const { resend } of investors) await resend();
      counts.reorganisations++;
    }
    if (random.chance(0.25)) {
      await environment.killDatabase();
      counts.database_kills++;
    } else {
      const victim = random.pick(alive);
      victim.kill();
      restarts.push(sleep(random.integer(300)).then(() => victim.restart()));
    }
    counts.kills++;
    if (counts.kills % 10 === 0) process.stdout.write(`\r${counts.kills} of ${kills} kills `);
  }
  process.stdout.write('\n');
  await Promise.all(restarts);
  return counts;
}

/** Waits until `minimum` participations are acknowledged. On a slow machine kills would otherwise interrupt nothing. */
async function waitForWork(investors: readonly Investor[], minimum: number): Promise<void> {
  const until = performance.now() + WORK_TIMEOUT_MS;
  while (countAcknowledged(investors) < minimum && performance.now() < until) await sleep(50);
}

/** Ends all faults and mines until every participation has a final status. */
async function settleAll(environment: Environment, investors: readonly Investor[]): Promise<void> {
  for (const { fault } of environment.rpcs) fault.set('none');
  environment.chain.chain.setBlockInterval(0);
  for (const node of environment.nodes) if (node.url === null) await node.restart();
  const until = performance.now() + SETTLE_TIMEOUT_MS;
  while (performance.now() < until) {
    for (const { resend } of investors) await resend();
    await environment.chain.chain.mine(1);
    await sleep(500);
    if ((await countUnfinished(environment).catch(() => -1)) === 0) return;
  }
  console.error('some participations did not settle in time');
}
