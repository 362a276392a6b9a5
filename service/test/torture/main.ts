import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { nextNonce, transact } from '@causeway/sandbox/simulators/chains/transact.ts';
import { encodeFunctionData } from 'viem/utils';
import { type Client, countAcknowledged, createClient } from './client.ts';
import { createDice, DEEPEST_REORGANISATION, type Dice } from './dice.ts';
import { countUnfinished, verify } from './verify.ts';
import { openWorld, type World } from './world.ts';

/**
 * Two processes of the service, a real database and a chain, all of which are killed, faulted and reorganised at random
 * moments while clients take part. In the end the chain is read, and it must say what the database says.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    clients: { type: 'string', default: '6' },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
console.log(`torture: ${kills} kills, seed ${seed} (repeat with --seed ${seed})`);

const FAULTS = ['down', 'slow', 'garbage', 'rate_limited', 'stale'] as const;
/** Milliseconds until everything must have come to its end, once nothing is broken any more. */
const CALM = 90_000;
/** Milliseconds that a kill waits at most until there is something to break. */
const PATIENCE = 15_000;
const began = performance.now();
const world = await openWorld();
let over = false;
try {
  const dice = createDice(seed);
  const clients = Array.from({ length: Number(values.clients) }, (_, i) =>
    createClient(world, createDice(seed + i + 1), i, () => over),
  );
  await fund(world, clients);
  const running = Promise.all(clients.map(({ run }) => run()));
  const counts = await torment(world, dice, clients);
  over = true;
  await running;
  await calmDown(world, clients);
  const { problems, figures } = await verify(world, clients);
  if (countAcknowledged(clients) < kills / 2) problems.push('too little was going on to prove anything');
  console.log({ ...counts, ...figures, seconds: Math.round((performance.now() - began) / 1000) });
  for (const problem of problems) console.error(`PROBLEM ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
  console.log(problems.length === 0 ? 'the books agree' : `the books do not agree (seed ${seed})`);
} finally {
  over = true;
  await world.close();
}
process.exit();

/** Gas and dollars, deep enough that no reorganisation takes them away. */
async function fund({ chain }: World, clients: readonly Client[]): Promise<void> {
  const usdc = chain.deployment.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address ?? '0x';
  for (const { address } of clients) {
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

async function torment(world: World, dice: Dice, clients: readonly Client[]) {
  const counts = { kills: 0, database_kills: 0, faults: 0, reorganisations: 0 };
  const restarts: Promise<void>[] = [];
  while (counts.kills < kills) {
    await sleep(100 + dice.number(1_100));
    await waitForWork(clients, counts.kills);
    const alive = world.nodes.filter(({ url }) => url !== null);
    if (alive.length === 0) continue;
    if (dice.chance(0.25)) {
      world.rpc.fault.set(dice.pick(FAULTS), 0.2 + dice.number(10) / 10);
      counts.faults++;
    }
    if (dice.chance(0.12)) {
      const transactions = dice.chance(0.5) ? 'return' : 'drop';
      await world.chain.chain.reorg({ depth: 1 + dice.number(DEEPEST_REORGANISATION), transactions });
      await world.chain.chain.mine(1);
      for (const { resend } of clients) await resend();
      counts.reorganisations++;
    }
    if (dice.chance(0.25)) {
      await world.killDatabase();
      counts.database_kills++;
    } else {
      const victim = dice.pick(alive);
      victim.kill();
      restarts.push(sleep(dice.number(300)).then(() => victim.restart()));
    }
    counts.kills++;
    if (counts.kills % 10 === 0) process.stdout.write(`\r${counts.kills} of ${kills} kills `);
  }
  process.stdout.write('\n');
  await Promise.all(restarts);
  return counts;
}

/** On a slow machine kills would follow each other so fast that there is nothing to break. */
async function waitForWork(clients: readonly Client[], least: number): Promise<void> {
  const until = performance.now() + PATIENCE;
  while (countAcknowledged(clients) < least && performance.now() < until) await sleep(50);
}

/** Nothing is broken any more; everything must come to its end. */
async function calmDown(world: World, clients: readonly Client[]): Promise<void> {
  world.rpc.fault.set('none');
  for (const node of world.nodes) if (node.url === null) await node.restart();
  const until = performance.now() + CALM;
  while (performance.now() < until) {
    for (const { resend } of clients) await resend();
    await world.chain.chain.mine(1);
    await sleep(500);
    if ((await countUnfinished(world).catch(() => -1)) === 0) return;
  }
  console.error('not everything came to its end in time');
}
