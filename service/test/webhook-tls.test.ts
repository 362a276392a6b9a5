import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendEvents } from '../src/platform/events/event.ts';
import { type TestApp, testApp } from './support/app.ts';
import { AUTHORITY, LOCALHOST, OTHER_HOST } from './support/certificates.ts';
import { bundleNode, killNode, type NodeProgram, startEventNode } from './support/forked-node.ts';
import { partnerOf } from './support/tokens.ts';
import { callAs } from './support/webhooks.ts';

let app: TestApp;
let program: NodeProgram;
const folder = mkdtempSync(join(tmpdir(), 'causeway-tls-'));
const servers: Server[] = [];
beforeAll(async () => {
  program = await bundleNode('event-node');
  app = await testApp({ config: { webhookAllowCidrs: ['127.0.0.0/8', '::1/128'] } });
  writeFileSync(join(folder, 'authority.pem'), AUTHORITY);
});
afterAll(async () => {
  for (const server of servers) server.close();
  await program.remove();
  await app.close();
  rmSync(folder, { recursive: true });
});

/** Starts a receiver and returns its URL and how many requests it has received. */
async function receive(identity: typeof LOCALHOST): Promise<{ url: string; count(): number }> {
  let requests = 0;
  const server = createServer(identity, (_request, response) => {
    requests++;
    response.end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/hooks`,
    count: () => requests,
  };
}

test('a receiver whose trusted certificate is for another name gets nothing', async () => {
  const [right, wrong] = [await receive(LOCALHOST), await receive(OTHER_HOST)];
  const call = await callAs(app);
  const add = async (url: string) =>
    (await call('POST', '/v1/webhook-endpoints', { url, types: ['*'] })).json.id as string;
  const endpoints = [await add(right.url), await add(wrong.url)];
  await appendEvents(app.ctx, app.ctx.db, [
    {
      ...{ partnerId: partnerOf('partner-one'), userId: null, type: 'offer.published' },
      data: { object: 'offer', id: 'offer' },
    },
  ]);
  const env = { NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') };
  const node = await startEventNode(program, String(app.ctx.pool.options.connectionString), { env });
  const attemptOf = async (endpoint = '') => {
    const { json } = await call('GET', `/v1/webhook-endpoints/${endpoint}/deliveries`);
    const { status, error } = json.data[0]?.last_attempt ?? {};
    return [status, error];
  };
  try {
    const poll = { timeout: 20_000, interval: 20 };
    await expect.poll(() => attemptOf(endpoints[0]), poll).toEqual([200, null]);
    await expect.poll(() => attemptOf(endpoints[1]), poll).toEqual([null, 'tls_error']);
    expect([right.count(), wrong.count()]).toEqual([1, 0]);
  } finally {
    await killNode(node);
  }
});
