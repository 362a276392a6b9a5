import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { multicall3 } from '@causeway/contracts/abi/multicall3.ts';
import type { FaultMode } from '@causeway/sandbox/simulators/fault.ts';
import { decodeFunctionResult, encodeFunctionResult, type Hex, numberToHex } from 'viem';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startTestChain, type TestChain, type TestNode } from '../../../../test/support/chain.ts';
import { type Chains, openChains } from '../open-chains.ts';
import { findApiError } from '../rpc/failures.ts';
import { readBalance } from './erc20.ts';

const TIMEOUT_MS = 600;
const RECOVERY = { timeout: 5_000, interval: 50 };

let world: TestChain;
let one: TestNode;
let two: TestNode;
const opened: Chains[] = [];

beforeAll(async () => {
  world = await startTestChain();
  one = await world.addNode();
  two = await world.addNode();
  await world.chain.mine(60);
});
afterEach(async () => {
  for (const node of [one, two]) node.fault.set('none');
  for (const chains of opened.splice(0)) await chains.close();
});
afterAll(() => world.close());

function connect(...nodes: Pick<TestNode, 'url'>[]) {
  const chains = openChains({
    urls: { ethereum_sepolia: nodes.map(({ url }) => url) },
    timeoutMs: TIMEOUT_MS,
    freshnessMs: 25,
  });
  opened.push(chains);
  const evm = chains.evm('ethereum_sepolia');
  const usdc = world.deployment.tokens[0]?.address ?? '0x';
  let owner = 0;
  /** Reads a different balance each time, so that no answer comes from the cache. */
  const read = () => readBalance(evm, usdc, numberToHex(++owner + 2 ** 40, { size: 20 }));
  return { evm, read };
}

const codeOf = async (read: Promise<unknown>) =>
  read.then(
    () => 'ok',
    (error) => error.code as string,
  );

const cases: [FaultMode, string][] = [
  ['down', 'upstream_unavailable'],
  ['slow', 'upstream_unavailable'],
  ['garbage', 'upstream_error'],
  ['rate_limited', 'upstream_unavailable'],
  ['stale', 'upstream_error'],
];

it.each(cases)('maps a node that is %s to %s every time, then recovers', async (mode, code) => {
  const { read } = connect(one);
  expect(await codeOf(read())).toBe('ok');
  one.fault.set(mode);
  for (let i = 0; i < 8; i++) expect(await codeOf(read())).toBe(code);
  one.fault.set('none');
  await expect.poll(() => codeOf(read()), RECOVERY).toBe('ok');
});

it.each(cases)('hides a node that is %s while another node works', async (mode) => {
  const { read } = connect(one, two);
  expect(await codeOf(read())).toBe('ok');
  one.fault.set(mode);
  for (let i = 0; i < 8; i++) expect(await codeOf(read())).toBe('ok');
});

it('names the chain as the upstream and sets Retry-After', async () => {
  const { read } = connect(one);
  one.fault.set('down');
  await expect(read()).rejects.toMatchObject({
    details: { upstream: 'rpc:ethereum_sepolia' },
    headers: { 'retry-after': '1' },
  });
});

it.each([
  ['no JSON', 'Must be authenticated!'],
  ['an error without a code', '{"error":"invalid project id"}'],
])('names the status of a provider that refuses the key with %s', async (_name, body) => {
  const server = createServer((_request, response) => void response.writeHead(401).end(body));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const { evm } = connect({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    await expect(evm.rpc.request({ method: 'eth_chainId' })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^HTTP 401: /) },
    });
  } finally {
    server.close();
  }
});

type Pairs = readonly { success: boolean; returnData: Hex }[];
const aggregate = { abi: multicall3.abi, functionName: 'aggregate3' } as const;
const changePairs = (change: (pairs: Pairs) => Pairs) => (data: Hex) =>
  encodeFunctionResult({ ...aggregate, result: change(decodeFunctionResult({ ...aggregate, data })) });

it.each<[string, (data: Hex) => unknown]>([
  ['null', () => null],
  ['a number', () => 1],
  ['not hex', (data) => data.replace(/.$/, 'g')],
  ['cut off', (data) => data.slice(0, -64)],
  ['without the last result', changePairs((pairs) => pairs.slice(0, -1))],
  ['with another result', changePairs((pairs) => [...pairs, ...pairs.slice(-1)])],
])('refuses the result of a multicall that is %s', async (_name, change) => {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const reply = (await (await fetch(one.url, { method: 'POST', body })).json()) as { result: unknown };
    if (body.includes('eth_call')) reply.result = change(reply.result as Hex);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const { read } = connect({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    expect(await codeOf(read())).toBe('upstream_error');
  } finally {
    server.close();
  }
});

it('survives two nodes that fail alternately', async () => {
  const { read } = connect(one, two);
  const modes: FaultMode[] = ['down', 'garbage', 'rate_limited', 'stale'];
  for (let i = 0; i < 40; i++) {
    const [bad, good] = i % 2 === 0 ? [one, two] : [two, one];
    good.fault.set('none');
    bad.fault.set(modes[i % modes.length] ?? 'down');
    expect(await codeOf(read())).toBe('ok');
  }
});

it('limits the calls to a node that does not respond', async () => {
  const { read } = connect(one);
  one.fault.set('slow');
  const before = one.requests();
  const codes = await Promise.all(Array.from({ length: 6_000 }, () => codeOf(read())));
  expect(new Set(codes)).toEqual(new Set(['upstream_unavailable']));
  expect(one.requests() - before).toBeLessThan(300);
  one.fault.set('none');
  await expect.poll(() => codeOf(read()), RECOVERY).toBe('ok');
});

it('gives the same failure to users of the viem client', async () => {
  const { evm } = connect(one);
  one.fault.set('garbage');
  const error = await evm.client.getBlockNumber().catch((thrown: unknown) => thrown);
  expect(findApiError(error)).toMatchObject({ code: 'upstream_error' });
});

it('passes on the errors of a rejected transaction', async () => {
  const { evm } = connect(one);
  const raw: Hex = '0x02f8';
  await expect(evm.rpc.request({ method: 'eth_sendRawTransaction', params: [raw] })).rejects.toMatchObject({
    name: 'NodeError',
    code: -32602,
  });
});

it('sends a signed transaction to every endpoint, and succeeds if one takes it', async () => {
  const { evm } = connect(one, two);
  const send = () => evm.rpc.requestAll({ method: 'eth_chainId' });
  const before = [one.requests(), two.requests()] as const;
  await send();
  await expect.poll(() => [one.requests() - before[0], two.requests() - before[1]]).toEqual([1, 1]);
  one.fault.set('down');
  expect(await send()).toBe('0xaa36a7');
});

it.each([
  ['hosts of one domain', ['https://a.rpc.example', 'https://b.rpc.example'], 1],
  ['hosts of two domains', ['https://a.rpc.example', 'https://a.node.example'], 2],
  ['two ports of one address', ['http://127.0.0.1:1', 'http://127.0.0.1:2'], 1],
  ['two addresses', ['http://127.0.0.1:1', 'http://[::1]:1'], 2],
  ['declared providers', ['https://a.rpc.example', 'https://b.rpc.example#provider=other'], 2],
  ['one declared provider', ['https://a.rpc.example#provider=us', 'https://a.node.example#provider=us'], 1],
] as const)('counts the providers of %s', (_name, urls, count) => {
  const { evm } = connect(...urls.map((url) => ({ url })));
  expect(evm.rpc.providers()).toHaveLength(count);
});
