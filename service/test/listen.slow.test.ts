import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendEvents } from '../src/platform/events/event.ts';
import { placeEvents } from '../src/platform/events/store.ts';
import { type TestApp, testApp } from './support/app.ts';
import { runCauseway } from './support/service.ts';
import { makeClient, partnerOf } from './support/tokens.ts';
import { type Receiver, startReceiver } from './support/webhooks.ts';

const BIN = fileURLToPath(new URL('../bin/causeway.mjs', import.meta.url));
let app: TestApp;
let receiver: Receiver;
let folder: string;
let options: string[];
beforeAll(async () => {
  app = await testApp({ listen: true });
  receiver = await startReceiver();
  folder = await mkdtemp(join(tmpdir(), 'causeway-listen-'));
  const { clientId, secret } = await makeClient(app.ctx);
  await writeFile(join(folder, 'secret'), `${secret}\n`);
  options = ['--service', app.ctx.baseUrl, '--client-id', clientId];
  options.push('--client-secret-file', join(folder, 'secret'), '--forward', receiver.url);
});
afterAll(async () => {
  await receiver.close();
  await app.close();
  await rm(folder, { recursive: true });
});

async function append(count: number): Promise<string[]> {
  const events = Array.from({ length: count }, (_, n) => ({
    ...{ partnerId: partnerOf('partner-one'), userId: null, type: 'offer.published' },
    data: { object: 'offer', id: `offer ${n}` },
  }));
  const ids = await appendEvents(app.ctx, app.ctx.db, events);
  await placeEvents(app.ctx.db);
  return ids;
}
const ids = () => receiver.received.map(({ headers }) => headers['webhook-id']);
const until = (check: () => unknown) => expect.poll(check, { timeout: 20_000, interval: 20 });

/** Starts the command and waits until it has requested a token for its stream, or has exited. */
async function listen(
  ...more: string[]
): Promise<{ child: ChildProcess; output(): string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [BIN, 'listen', ...options, ...more], {
    env: { PATH: process.env.PATH, CAUSEWAY_DATA: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const exited = once(child, 'exit');
  const opened = () => app.logged().match(/"route":"\/oauth\/token"/g)?.length ?? 0;
  const before = opened();
  await until(() => opened() > before || child.exitCode !== null).toBe(true);
  return {
    ...{ child, output: () => output },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

test('forwards events signed, resumes where it stopped, and replays', async () => {
  await append(1);
  const first = await listen('--replay', '9999d');
  await until(() => receiver.received.length).toBe(1);
  const live = await append(2);
  await until(() => ids().slice(1)).toEqual(live);
  await first.stop();
  const secret = /whsec_\S+/.exec(first.output())?.[0] ?? '';
  for (const { headers, body } of receiver.received) {
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const key = Buffer.from(secret.slice(6), 'base64');
    const expected = createHmac('sha256', key).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${expected}`);
  }
  const missed = await append(3);
  const second = await listen();
  await until(() => ids().slice(3)).toEqual(missed);
  await second.stop();
  expect(second.output()).toContain(secret);
});

test.each([
  [[], 'listen requires --forward'],
  [['--forward', 'nonsense'], 'listen requires --forward'],
  [['--forward', 'http://127.0.0.1:1/', '--replay', 'long'], '--replay must be a duration'],
  [['--forward', 'http://127.0.0.1:1/', '--client-id', 'x'], 'listen requires both --client-id'],
  [['--forward', 'http://127.0.0.1:1/', '--service', 'http://127.0.0.1:9'], 'does not answer'],
])('%j is refused with a message', async (args, message) => {
  const { code, text } = await runCauseway(['listen', ...args], { CAUSEWAY_DATA: folder });
  expect([code, text]).toEqual([2, expect.stringContaining(message)]);
});
