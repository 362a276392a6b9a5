import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LIMIT_NAMES } from '@causeway/service/config/rate-limits.ts';
import autocannon from 'autocannon';
import { startService } from '../../service/test/support/service.ts';
import { readResidentMb } from './cpu.ts';
import { MIN_ROUNDS } from './load.ts';
import { barOf, type Result } from './result.ts';

const REQUESTS = 100_000;
const SETTLE_MS = 5_000;
const PATHS = [
  '/v1/offers',
  '/v1/offers/harbour-quarter',
  '/v1/offers/harbour-quarter/requirements/statuses',
  '/v1/offers/harbour-quarter/eligibility',
  '/v1/participations',
  '/v1/events',
];

/**
 * Measures the resident memory of a sandbox's service process while idle and after 100,000 requests. Each round starts
 * a new process.
 */
export async function run(): Promise<Result> {
  const idle: number[] = [];
  const used: number[] = [];
  for (let round = 0; round < MIN_ROUNDS; round++) {
    const dataDir = mkdtempSync(join(tmpdir(), 'causeway-bench-memory-'));
    const limits = Object.fromEntries(
      LIMIT_NAMES.map((name) => [`RATE_LIMIT_${name.toUpperCase()}`, '1000000']),
    );
    const service = await startService({ CAUSEWAY_DATA: dataDir, ...limits });
    try {
      const pid = Number(service.child.pid);
      await sleep(SETTLE_MS);
      idle.push(readResidentMb(pid));
      await sendRequests(service.url);
      await sleep(SETTLE_MS);
      used.push(readResidentMb(pid));
    } finally {
      await service.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
  return {
    name: 'Resident memory of the service',
    bars: [
      barOf('idle, MB', idle, { max: 160, goal: 120 }),
      barOf(`after ${REQUESTS} requests, MB`, used, { max: 220, goal: 180 }),
    ],
    figures: { idle, used },
  };
}

async function sendRequests(url: string): Promise<void> {
  const reply = await fetch(`${url}/sandbox/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@sandbox.test' }),
  });
  const { access_token: token } = (await reply.json()) as { access_token: string };
  const result = await autocannon({
    url,
    headers: { authorization: `Bearer ${token}` },
    requests: PATHS.map((path) => ({ path })),
    connections: 32,
    amount: REQUESTS,
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} error responses, ${result.errors} connection errors`);
}
