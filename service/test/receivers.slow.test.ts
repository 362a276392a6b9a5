import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../src/platform/http/listening.ts';
import { ROOT, readGuide } from './support/guide.ts';
import { installPackages } from './support/packages.ts';
import { type Call, callAs, startWebhookNode, type WebhookNode } from './support/webhooks.ts';

const TSX = fileURLToPath(import.meta.resolve('tsx'));

let node: WebhookNode;
let call: Call;
let folder: string;
beforeAll(async () => {
  node = await startWebhookNode();
  node.ctx.config.limits.webhook_test = 1_000;
  call = await callAs(node);
  // A folder inside the packages folder, so that Node finds the packages.
  folder = await mkdtemp(join(await installPackages('webhook-receivers'), 'run-'));
  await mkdir(join(folder, 'node_modules', '@causeway'), { recursive: true });
  await symlink(join(ROOT, 'sdk'), join(folder, 'node_modules', '@causeway', 'sdk'));
}, 300_000);
afterAll(async () => {
  await node.stop();
  await rm(folder, { recursive: true });
});

/** Starts the partner guide's webhook receiver that contains `text` in its code, and waits until it answers. */
async function startReceiver(
  text: string,
  secret: string,
  port: number,
): Promise<{ child: ChildProcess; output(): string }> {
  const block = (await readGuide('docs/partners.md')).find(
    ({ language, code }) => ['js', 'python'].includes(language) && code.includes(text),
  );
  const isPython = block?.language === 'python';
  const file = join(folder, `receiver-${port}.${isPython ? 'py' : 'mjs'}`);
  await writeFile(file, String(block?.code));
  const [command, args] = isPython ? ['python3', [file]] : [process.execPath, ['--import', TSX, file]];
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  await expect
    .poll(() => fetch(`http://127.0.0.1:${port}/`).catch(() => null), { timeout: 30_000 })
    .not.toBeNull();
  return { child, output: () => output };
}

test.each([
  ['node:http', 'verifyWebhook({ body: Buffer.concat(chunks)'],
  ['Express', "from 'express'"],
  ['Fastify', "from 'fastify'"],
  ['standardwebhooks', "from 'standardwebhooks'"],
  ['Python', 'import base64'],
])(
  'the receiver with %s of the guide accepts every delivery, also during a rotation, and nothing else',
  async (_name, text) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/hooks`;
    const { json: endpoint } = await call('POST', '/v1/webhook-endpoints', {
      ...{ url, types: ['offer.published'] },
    });
    const path = `/v1/webhook-endpoints/${endpoint.id}`;
    const receiver = await startReceiver(text, endpoint.secret, port);
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
  },
  60_000,
);
