import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { typeOnTerminal } from '../../../test/support/terminal.ts';
import { makeClient } from '../../../test/support/tokens.ts';
import {
  type Receiver,
  startReceiver,
  startWebhookNode,
  type WebhookNode,
} from '../../../test/support/webhooks.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import { run as runWebhook } from './webhook-command.ts';

let node: WebhookNode;
let config: Config;
let receiver: Receiver;
beforeAll(async () => {
  node = await startWebhookNode();
  receiver = await startReceiver();
  config = { ...node.ctx.config, databaseUrl: String(node.ctx.pool.options.connectionString) };
  await makeClient(node.ctx);
});
afterAll(async () => {
  await node.stop();
  await receiver.close();
});
afterEach(() => vi.restoreAllMocks());

async function run(...args: string[]) {
  const output: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((text: string) => void output.push(text));
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await runWebhook(config, args);
  return JSON.parse(output.join(''));
}

test('manages endpoints and deliveries beside the running node', async () => {
  const created = await run('create', 'partner-one', '--url', receiver.url, '--type', 'offer.*');
  expect(created).toMatchObject({
    object: 'webhook_endpoint',
    types: ['offer.*'],
    secret: expect.any(String),
  });
  const { id } = created;
  const { event_id } = await run('test', 'partner-one', id);
  await expect.poll(() => receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([event_id]);
  const find = async () => (await run('deliveries', 'partner-one', id)).data[0];
  await expect.poll(async () => (await find()).state).toBe('delivered');
  const delivery = await find();
  await run('resend', 'partner-one', delivery.id);
  await expect.poll(() => receiver.received.length).toBe(2);
  await expect.poll(async () => (await run('attempts', 'partner-one', delivery.id)).data.length).toBe(2);
  expect((await run('disable', 'partner-one', id)).state).toBe('disabled');
  expect((await run('enable', 'partner-one', id, '--from', 'now')).state).toBe('enabled');
  expect((await run('recover', 'partner-one', id, '--since', '2026-01-01T00:00:00Z')).deliveries).toBe(0);
  const rotated = await run('rotate-secret', 'partner-one', id, '--grace-hours', '1');
  expect(rotated.secret).not.toBe(created.secret);
  expect((await run('list', 'partner-one')).data.map((endpoint: { id: string }) => endpoint.id)).toEqual([
    id,
  ]);
  expect((await run('show', 'partner-one', id)).secret).toBeUndefined();
  typeOnTerminal('no\n');
  await expect(run('delete', 'partner-one', id)).rejects.toThrow(`${receiver.url} was not typed`);
  typeOnTerminal(null);
  await expect(run('delete', 'partner-one', id)).rejects.toThrow('--yes');
  expect((await run('list', 'partner-one')).data).toHaveLength(1);
  typeOnTerminal(`${receiver.url}\n`);
  await run('delete', 'partner-one', id);
  expect((await run('list', 'partner-one')).data).toEqual([]);
});

test.each([
  [['dance']],
  [['list']],
  [['list', 'nobody']],
  [['show', 'partner-one']],
  [['list', 'partner-one', 'x']],
  [['show', 'partner-one', '01890000-0000-7000-8000-00000000dead']],
  [['create', 'partner-one', '--url', 'https://a.example/']],
  [['create', 'partner-one', '--url', 'http://10.0.0.1/', '--type', '*']],
  [['create', 'partner-one', '--url', 'https://a.example/', '--type', 'everything']],
  [['enable', 'partner-one', 'x', '--from', 'yesterday']],
  [['rotate-secret', 'partner-one', 'x', '--grace-hours', '169']],
  [['recover', 'partner-one', 'x']],
  [['recover', 'partner-one', 'x', '--since', 'once']],
  [['list', 'partner-one', '--url', 'x']],
])('%j is refused with a message', async (args) => {
  await expect(run(...args)).rejects.toThrow(UsageError);
});
