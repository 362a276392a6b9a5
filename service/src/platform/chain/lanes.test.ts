import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import { numberToHex } from 'viem/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { startTestChain, type TestChain } from '../../../test/support/chain.ts';
import { createTurns } from './evm/reads.ts';

const chain = 'ethereum_sepolia';
const FLOOD = 100;
const RESPONSE_MS = 700;

let testChain: TestChain;
let app: TestApp;
let token: Hex;
let target: string;
/** Forwards each request to a real node, but answers late. */
const slowNode = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const [reply] = await Promise.all([
    fetch(target, { method: 'POST', body: Buffer.concat(chunks) }),
    sleep(RESPONSE_MS),
  ]);
  response.setHeader('content-type', 'application/json').end(await reply.text());
});

beforeAll(async () => {
  testChain = await startTestChain(chain);
  target = (await testChain.addNode()).url;
  token = testChain.deployment.tokens[0]?.address ?? '0x';
  await new Promise<void>((resolve) => slowNode.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(slowNode.address() as AddressInfo).port}`;
  app = await testApp({ config: { rpcUrls: { [chain]: [url] } } });
});
afterAll(async () => {
  await app.close();
  slowNode.closeAllConnections();
  slowNode.close();
  await testChain.close();
});

const address = (number: number) => numberToHex(number + 1, { size: 20 });

/**
 * Sends `FLOOD` requests from one partner, then one request from another partner. Returns how many of the first
 * partner's requests were answered before the other partner's request.
 */
async function flood(send: (clientId: string, number: number) => Promise<number>) {
  let answered = 0;
  const greedy = [];
  for (let i = 0; i < FLOOD; i++) {
    // Some of these requests may fail, because too many are waiting.
    const sent = send('greedy', i).catch(() => 503);
    greedy.push(sent.finally(() => answered++));
    // Spaces the requests out, because requests that arrive together share a call to the node.
    await sleep(3);
  }
  const status = await send('other', FLOOD);
  const before = answered;
  await Promise.all(greedy);
  return { status, before };
}

test('the reads of one partner share calls with those of another in turn', () => {
  const turns = createTurns<string>();
  for (let i = 0; i < 200; i++) turns.add('greedy', `greedy ${i}`);
  turns.add('other', 'other 0');
  turns.add('other', 'other 1');
  expect(turns.take(4)).toEqual(['greedy 0', 'other 0', 'greedy 1', 'other 1']);
  expect(turns.take(100)).toHaveLength(100);
  expect(turns.take(100)).toHaveLength(98);
  expect(turns.size()).toBe(0);
});

test('a partner that floods a slow node with reads does not keep that of another from its answer', async () => {
  const bearers = new Map<string, string>();
  for (const clientId of ['greedy', 'other'])
    bearers.set(clientId, await app.tokenFor({ clientId, userId: null, scopes: new Set(['swaps:read']) }));
  const { status } = await flood(async (clientId, number) => {
    const query = new URLSearchParams({ chain, token_address: token, owner: address(number) });
    const headers = { authorization: `Bearer ${bearers.get(clientId)}` };
    return (await app.app.inject({ url: `/v1/token/balance?${query}`, headers })).statusCode;
  });
  expect(status).toBe(200);
});

test('a partner that floods a slow node with other calls delays the call of another by one turn', async () => {
  const { status, before } = await flood(async (clientId, number) => {
    const { client } = app.ctx.forPartner(clientId).chains.evm(chain);
    return (await client.getCode({ address: address(number) })) === undefined ? 200 : 500;
  });
  expect(status).toBe(200);
  expect(before).toBeLessThan(FLOOD / 2);
});
