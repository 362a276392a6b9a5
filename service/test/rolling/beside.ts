import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { generatePrivateKey } from 'viem/accounts';
import { startEmbedded } from '../../src/db/embedded.ts';
import { freePort } from '../../src/http/free-port.ts';
import { productionSettings, startService } from '../support/service.ts';
import { signForm, startFormProvider, submittingForms } from './forms.ts';
import {
  type Investor,
  insertUser,
  investing,
  startRollingSale,
  type User,
  waitSettled,
} from './investors.ts';
import { type Callers, sendLoad } from './load.ts';

// Upgrades under load. A version 0.1 node serves its own database. A new node starts beside it and upgrades that
// database. Both serve for a while, and then the old node stops. Investors bind wallets and invest through both nodes,
// and users ask for forms and sign them. No request to either node may fail. Every participation must be settled and
// every signature recorded, whichever node created the participation or sent the form.
const { values } = parseArgs({
  options: { old: { type: 'string' }, seconds: { type: 'string', default: '20' } },
});
if (values.old === undefined)
  throw new Error('--old requires the path of a version 0.1 checkout with node_modules');
const oldBin = join(values.old, 'service/bin/causeway.mjs');
const seconds = Number(values.seconds);
const INVESTORS_PER_NODE = 4;
const SIGNERS_PER_NODE = 10;

const folder = await mkdtemp(join(tmpdir(), 'causeway-beside-'));
const database = await startEmbedded({ dataDir: join(folder, 'data'), log: () => undefined });
const operatorKey = generatePrivateKey();
const sale = await startRollingSale([operatorKey]);
const provider = await startFormProvider(folder);
const settings = {
  ...productionSettings(database.url),
  ...Object.fromEntries(
    ['API', 'OAUTH_TOKEN', 'SIGN_IN', 'WALLET_OWNERSHIP', 'DOCUMENTS'].map((name) => [
      `RATE_LIMIT_${name}`,
      '1000000',
    ]),
  ),
  CAUSEWAY_DATA: folder,
  // Even a busy machine must not shed load here, because this test is about restarts.
  ...{ MAX_EVENT_LOOP_LAG_MS: '30000', MAX_POOL_WAIT_MS: '30000' },
  OPERATOR_KEY: operatorKey,
  RPC_URL_ETHEREUM_SEPOLIA: sale.rpcUrl,
  ...provider.settings,
  DOCUSEAL_WEBHOOK_SECRET: provider.webhookSecret,
};
let failed = 0;
const stops: (() => Promise<unknown>)[] = [
  ...[() => sale.close(), () => provider.close(), () => database.stop()],
];
try {
  const [oldPort, newPort] = [await freePort(), await freePort()];
  const [oldUrl, newUrl] = [`http://127.0.0.1:${oldPort}`, `http://127.0.0.1:${newPort}`];
  const old = await startService({ ...settings, PORT: String(oldPort) }, [process.execPath, oldBin, 'serve']);
  stops.unshift(() => old.stop().catch(() => undefined));
  const runOld = async (...args: string[]) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...settings };
    return (await promisify(execFile)(process.execPath, [oldBin, ...args], { env })).stdout;
  };
  const redirect = ['--redirect', 'https://app.example/callback'];
  const credentials = JSON.parse(await runOld('partner', 'create', '--name', 'Old partner', ...redirect));
  const callers: Callers = {
    ...{ credentials: [credentials], identitySecret: 'secret', documentsSecret: provider.webhookSecret },
  };
  await runOld('offer', 'apply', await sale.writeOffer(folder, credentials.client_id), '--yes');
  await runOld('offer', 'publish', 'harbour-sale');
  const addInvestors = () => sale.addInvestors(database.url, credentials.client_id, INVESTORS_PER_NODE);
  const [oldInvestors, newInvestors] = [await addInvestors(), await addInvestors()];
  const addSigners = () =>
    Promise.all(
      Array.from({ length: SIGNERS_PER_NODE }, () => insertUser(database.url, credentials.client_id)),
    );
  const [oldSigners, newSigners] = [await addSigners(), await addSigners()];
  /**
   * Users who were sent a form. Half of the forms from the old node are signed while it runs, the others after it has
   * stopped.
   */
  const [oldForms, newForms]: [User[], User[]] = [[], []];
  const submitting = (users: User[], forms: User[], times: number) =>
    submittingForms(users, forms, { intervalMs: (seconds * 500) / SIGNERS_PER_NODE, times });
  let endOld = () => {};
  const oldEnds = new Promise<void>((resolve) => {
    endOld = resolve;
  });
  /** The last participations that the old node creates. The new node settles them. */
  const left: [Investor, string][] = [];
  await provider.notify(oldUrl);
  const oldLoad = sendLoad(oldUrl, callers, oldEnds, async (send, load, isRunning) => {
    await Promise.all([
      investing(sale, oldInvestors)(send, load, isRunning),
      // Each user asks only once, because version 0.1 answers with 429 if a user asks again within a minute.
      submitting(oldSigners, oldForms, 1)(send, load, isRunning),
    ]);
    for (const user of oldForms.splice(0, oldForms.length / 2)) await signForm(provider, send, user, load);
    for (const investor of oldInvestors) left.push([investor, (await sale.invest(send, investor)) ?? '']);
    await old.stop();
  });
  await sleep(seconds * 250);
  const startedAt = performance.now();
  const fresh = await startService({ ...settings, PORT: String(newPort) });
  stops.unshift(() => fresh.stop().catch(() => undefined));
  console.log(
    `the new node upgraded the database and was ready after ${Math.round(performance.now() - startedAt)} ms`,
  );
  await provider.notify(newUrl);
  const newEnds = sleep(seconds * 1_000).then(() => oldLoad);
  const newLoad = sendLoad(newUrl, callers, newEnds, async (send, load, isRunning) => {
    await Promise.all([
      investing(sale, newInvestors)(send, load, isRunning),
      submitting(newSigners, newForms, 2)(send, load, isRunning),
    ]);
    for (const [investor, id] of left) await waitSettled(send, investor, id, load);
    for (const user of [...oldForms, ...newForms]) await signForm(provider, send, user, load);
    console.log(
      `${oldForms.length} forms of version 0.1 and ${newForms.length} of the new version were signed`,
    );
  });
  await sleep(seconds * 500);
  endOld();
  for (const [name, load] of [
    ['version 0.1', oldLoad],
    ['new version', newLoad],
  ] as const) {
    const { requests, failures, settled } = await load;
    failed += failures.length;
    console.log(
      `${name}: ${requests} requests, ${failures.length} failed; ${settled} participations settled`,
    );
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
