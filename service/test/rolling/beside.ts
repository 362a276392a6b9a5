import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { startEmbedded } from '../../src/db/embedded.ts';
import { freePort } from '../../src/http/free-port.ts';
import { productionSettings, startService } from '../support/service.ts';
import { type Callers, sendLoad } from './load.ts';

// Upgrades under load: a node of version 0.1 serves its own database, a new node upgrades that database beside it, both
// serve for a while, and the old node stops. No request to either may fail.
const { values } = parseArgs({
  options: { old: { type: 'string' }, seconds: { type: 'string', default: '20' } },
});
if (values.old === undefined)
  throw new Error('--old requires the path of a version 0.1 checkout with node_modules');
const oldBin = join(values.old, 'service/bin/causeway.mjs');
const seconds = Number(values.seconds);

const folder = await mkdtemp(join(tmpdir(), 'causeway-beside-'));
const database = await startEmbedded({ dataDir: join(folder, 'data'), log: () => undefined });
const settings = {
  ...productionSettings(database.url),
  ...Object.fromEntries(['API', 'OAUTH_TOKEN', 'SIGN_IN'].map((name) => [`RATE_LIMIT_${name}`, '1000000'])),
  CAUSEWAY_DATA: folder,
  OPERATOR_KEY: `0x${'42'.repeat(32)}`,
};
let failed = 0;
const stops: (() => Promise<unknown>)[] = [() => database.stop()];
try {
  const [oldPort, newPort] = [await freePort(), await freePort()];
  const old = await startService({ ...settings, PORT: String(oldPort) }, [process.execPath, oldBin, 'serve']);
  stops.unshift(() => old.stop().catch(() => undefined));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [oldBin, 'partner', 'create', '--name', 'Old partner', '--redirect', 'https://app.example/callback'],
    { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings } },
  );
  const callers: Callers = { credentials: [JSON.parse(stdout)], webhookSecret: 'secret' };
  let endOld = () => {};
  const oldEnds = new Promise<void>((resolve) => {
    endOld = resolve;
  });
  const oldLoad = sendLoad(`http://127.0.0.1:${oldPort}`, callers, oldEnds);
  await sleep(seconds * 250);
  const startedAt = performance.now();
  const fresh = await startService({ ...settings, PORT: String(newPort) });
  stops.unshift(() => fresh.stop().catch(() => undefined));
  console.log(
    `the new node upgraded the database and was ready after ${Math.round(performance.now() - startedAt)} ms`,
  );
  const newLoad = sendLoad(`http://127.0.0.1:${newPort}`, callers, sleep(seconds * 1_000));
  await sleep(seconds * 500);
  endOld();
  for (const [name, load] of [
    ['version 0.1', oldLoad],
    ['new version', newLoad],
  ] as const) {
    const { requests, failures } = await load;
    failed += failures.length;
    console.log(`${name}: ${requests} requests, ${failures.length} failed`);
    for (const failure of failures.slice(0, 10)) console.log(`  ${failure}`);
  }
  const errors = old
    .output()
    .split('\n')
    .filter((line) => /"level":(50|60)|"level":"(error|fatal)"/.test(line));
  console.log(`version 0.1 logged ${errors.length} errors`);
  for (const line of new Set(
    errors.map((each) => each.replace(/"time":[^,]*,|"request_id":[^,]*,/g, '').slice(0, 400)),
  ))
    console.log(`  ${line}`);
} finally {
  for (const stop of stops) await stop();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
