import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@causeway/service/platform/http/listening.ts';
import { printRow } from './compare.ts';
import { newFolder, startSandbox } from './sandbox.ts';

// The time from `causeway serve` until a sandbox without the demo app is ready: with an empty folder, and again with the
// same folder and port, as after a restart. Then the resident memory of the service without its database.

const SETTLE_MS = 10_000;

// Builds the bundle if necessary and fills the system's file cache.
await (await startSandbox()).stop();
const settings = { CAUSEWAY_DATA: newFolder(), PORT: String(await freePort()) };
const first = await timedStart();
await first.sandbox.stop();
const second = await timedStart();
await sleep(SETTLE_MS);
const status = readFileSync(`/proc/${second.sandbox.pid}/status`, 'utf8');
const megabytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
await second.sandbox.stop();
printRow('first start', `${first.seconds.toFixed(1)} s`, '≤ 6 s');
printRow('second start', `${second.seconds.toFixed(1)} s`, '≤ 3 s');
printRow('idle memory', `${Math.round(megabytes)} MB`, '≤ 160 MB');

async function timedStart() {
  const startedAt = performance.now();
  const sandbox = await startSandbox(settings);
  return { sandbox, seconds: (performance.now() - startedAt) / 1000 };
}
