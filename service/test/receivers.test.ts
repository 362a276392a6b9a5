import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../src/http/free-port.ts';
import { readGuide } from './support/guide.ts';
import { type Call, callAs, startWebhookNode, type WebhookNode } from './support/webhooks.ts';

let node: WebhookNode;
let call: Call;
let folder: string;
beforeAll(async () => {
  node = await startWebhookNode();
  call = await callAs(node);
  folder = await mkdtemp(join(tmpdir(), 'causeway-receiver-'));
});
afterAll(async () => {
  await node.stop();
  await rm(folder, { recursive: true });
});

/** Starts the receiver of the partner guide and waits until it answers. */
async function startPython(secret: string, port: number): Promise<{ child: ChildProcess; output(): string }> {
  const code = (await readGuide('docs/partners.md')).find(({ language }) => language === 'python')?.code;
  await writeFile(join(folder, 'receiver.py'), String(code));
  const child = spawn('python3', ['receiver.py'], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  await expect
    .poll(() => fetch(`http://127.0.0.1:${port}/`).catch(() => null), { timeout: 10_000 })
    .not.toBeNull();
  return { child, output: () => output };
}

test('the Python receiver of the guide accepts every delivery, also during a rotation, and nothing else', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/hooks`;
  const { json: endpoint } = await call('POST', '/v1/webhook-endpoints', { url, types: ['*'] });
  const path = `/v1/webhook-endpoints/${endpoint.id}`;
  const receiver = await startPython(endpoint.secret, port);
  const states = async () =>
    (await call('GET', `${path}/deliveries`)).json.data.map(({ state }: { state: string }) => state);
  try {
    await call('POST', `${path}/test`, {});
    await expect.poll(states, { timeout: 10_000 }).toEqual(['delivered']);
    await call('POST', `${path}/rotate-secret`, {});
    await call('POST', `${path}/test`, {});
    await expect.poll(states, { timeout: 10_000 }).toEqual(['delivered', 'delivered']);
    expect(receiver.output()).toBe('webhook.test\nwebhook.test\n');
    await call('POST', `${path}/rotate-secret`, { grace_hours: 0 });
    await call('POST', `${path}/test`, {});
    const last = async () => (await call('GET', `${path}/deliveries`)).json.data[0].last_attempt?.status;
    await expect.poll(last, { timeout: 10_000 }).toBe(400);
  } finally {
    receiver.child.kill();
    await once(receiver.child, 'exit');
  }
});
