import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { signHash } from '@causeway/service/chain/evm/secp256k1.ts';
import { Pool } from 'undici';
import { type Hex, hashMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { median } from './load.ts';
import type { Result } from './result.ts';

const DURATION_SECONDS = 10;

type Round = { perSecond: number; delayP99: number };
type Server = { url: string; tokens: string[]; offerId: string; optionId: string };

/** Measures wallet connection over HTTP, and EOA signature verification compared with viem. */
export async function run(): Promise<Result> {
  const alone = await verifyAlone();
  const http = await connectOverHttp();
  const viem = medianRound(alone.viem);
  const ours = medianRound(alone.ours);
  return {
    name: 'Wallets: verification of plain keys, and connection over HTTP',
    bars: [
      {
        label: 'verification throughput relative to viem verifyMessage',
        value: ours.perSecond / viem.perSecond,
        min: 5,
      },
      {
        label: '20 ms divided by the p99 event loop delay, verifying',
        value: 20 / ours.delayP99,
        min: 1,
      },
      { label: '20 ms divided by the p99 event loop delay, connecting', value: 20 / http.delayP99, min: 1 },
    ],
    figures: {
      'idle process': { delayP99: medianRound(alone.idle).delayP99 },
      'viem alone': viem,
      'ours alone': ours,
      'challenge and connect': http,
    },
  };
}

function start(file: string): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: 'typescript' in process.features && process.features.typescript ? [] : ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function answer<T>(child: ChildProcess): Promise<T> {
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`exited with ${code}`)));
  const [message] = await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => {});
  return message as T;
}

function verifyAlone(): Promise<Record<'viem' | 'ours' | 'idle', Round[]>> {
  return answer(start('./wallets-verify.ts'));
}

function medianRound(rounds: Round[]): Round {
  return {
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    delayP99: median(rounds.map(({ delayP99 }) => delayP99)),
  };
}

/** Connects wallets for all users concurrently. Each user connects several, one after another. */
async function connectOverHttp(): Promise<Round & { p99: number; cpuMillisecondsEach: number }> {
  const child = start('./wallets-server.ts');
  try {
    const { url, tokens, offerId, optionId } = await answer<Server>(child);
    const pool = new Pool(url, { connections: tokens.length });
    const post = async (token: string, path: string, body: object) => {
      const reply = await pool.request({
        method: 'POST',
        path,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await reply.body.text();
      if (reply.statusCode !== 200) throw new Error(`${path}: ${text}`);
      return JSON.parse(text) as { message: string };
    };
    const prove = async (token: string, wallet: { key: Hex; address: string }) => {
      const wanted = { wallet_address: wallet.address, chain: 'ethereum_sepolia' };
      const { message } = await post(token, '/v1/wallet-ownership', wanted);
      const signature = signHash(wallet.key, hashMessage(message));
      await post(token, `/v1/offers/${offerId}/addresses`, {
        ...wanted,
        offer_option_id: optionId,
        signature,
      });
    };
    const rounds = async (seconds: number) => {
      const times: number[] = [];
      const end = performance.now() + seconds * 1000;
      await Promise.all(
        tokens.map(async (token, n) => {
          const wallets = [newWallet(`${n} left`), newWallet(`${n} right`)];
          for (let turn = 0; performance.now() < end; turn++) {
            const start = performance.now();
            await prove(token, wallets[turn % 2] ?? newWallet(''));
            times.push(performance.now() - start);
          }
        }),
      );
      return times.sort((a, b) => a - b);
    };
    await rounds(2);
    child.send('start');
    const times = await rounds(DURATION_SECONDS);
    child.send('stop');
    const { delayP99, cpuMilliseconds } = await answer<{ delayP99: number; cpuMilliseconds: number }>(child);
    await pool.close();
    return {
      perSecond: times.length / DURATION_SECONDS,
      p99: times[Math.floor(times.length * 0.99)] ?? 0,
      delayP99,
      cpuMillisecondsEach: cpuMilliseconds / times.length,
    };
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
}

function newWallet(name: string): { key: Hex; address: string } {
  const key: Hex = `0x${createHash('sha256').update(name).digest('hex')}`;
  return { key, address: privateKeyToAccount(key).address.toLowerCase() };
}
