import { once } from 'node:events';
import { MIN_ROUNDS } from './load.ts';
import { barOf, type Result } from './result.ts';
import { median, percentile, ratios } from './statistics.ts';
import { startTarget } from './target.ts';
import { connectWallets, type WalletTarget } from './wallet-load.ts';

const ROUND_SECONDS = 3;

type Round = { perSecond: number; perCpuSecond: number; delayP99: number };
type Connecting = { perSecond: number; p99: number; delayP99: number; cpuMillisecondsEach: number };

/** Compares our verification of EOA signatures with viem's. Also measures wallet connection over HTTP. */
export async function run(): Promise<Result> {
  const alone = await verifyAlone();
  const http = await connectOverHttp();
  const of = (rounds: Round[], name: keyof Round) => rounds.map((round) => round[name]);
  return {
    name: 'Wallets: verification of plain keys, and connection over HTTP',
    bars: [
      barOf(
        'verification throughput relative to viem verifyMessage',
        ratios(of(alone.ours, 'perSecond'), of(alone.viem, 'perSecond')),
        { min: 5, goal: 8 },
      ),
      barOf(
        'verifications per CPU second relative to viem verifyMessage',
        ratios(of(alone.ours, 'perCpuSecond'), of(alone.viem, 'perCpuSecond')),
        { min: 5, goal: 8 },
      ),
      barOf('p99 of the event loop delay while verifying, ms', of(alone.ours, 'delayP99'), { max: 20 }),
      barOf(
        'p99 of the event loop delay while connecting, ms',
        http.map(({ delayP99 }) => delayP99),
        { max: 20 },
      ),
    ],
    figures: {
      'idle process': { delayP99: medianRound(alone.idle).delayP99 },
      'viem alone': { ...medianRound(alone.viem), rounds: alone.viem },
      'ours alone': { ...medianRound(alone.ours), rounds: alone.ours },
      'challenge and connect': { ...medianConnecting(http), rounds: http },
    },
  };
}

async function verifyAlone(): Promise<Record<'viem' | 'ours' | 'idle', Round[]>> {
  const { target, stop } =
    await startTarget<Record<'viem' | 'ours' | 'idle', Round[]>>('./wallets-verify.ts');
  await stop();
  return target;
}

function medianRound(rounds: Round[]): Round {
  return {
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    perCpuSecond: median(rounds.map(({ perCpuSecond }) => perCpuSecond)),
    delayP99: median(rounds.map(({ delayP99 }) => delayP99)),
  };
}

function medianConnecting(rounds: Connecting[]): Connecting {
  const of = (name: keyof Connecting) => median(rounds.map((round) => round[name]));
  return {
    ...{ perSecond: of('perSecond'), p99: of('p99'), delayP99: of('delayP99') },
    cpuMillisecondsEach: of('cpuMillisecondsEach'),
  };
}

/** Connects wallets for all users concurrently. */
async function connectOverHttp(): Promise<Connecting[]> {
  const { target, child, stop } = await startTarget<WalletTarget>('./wallets-server.ts');
  try {
    await connectWallets(target, 2);
    const measured: Connecting[] = [];
    for (let round = 0; round < MIN_ROUNDS; round++) {
      child.send('start');
      const times = await connectWallets(target, ROUND_SECONDS);
      child.send('stop');
      const [{ delayP99, cpuMilliseconds }] = (await once(child, 'message')) as [
        { delayP99: number; cpuMilliseconds: number },
      ];
      measured.push({
        perSecond: times.length / ROUND_SECONDS,
        p99: percentile(times, 0.99),
        delayP99,
        cpuMillisecondsEach: cpuMilliseconds / times.length,
      });
    }
    return measured;
  } finally {
    await stop();
  }
}
