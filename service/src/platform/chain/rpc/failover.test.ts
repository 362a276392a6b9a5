import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Hex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestChain, type TestChain } from '../../../../test/support/chain.ts';
import { type LyingNode, startLyingNode } from '../../../../test/support/lying-node.ts';
import { startSolanaChain, type TestSolana } from '../../../../test/support/solana-chain.ts';
import { readFundEvents } from '../evm/fund-events.ts';
import { readFinality, readReceipts } from '../evm/node-reads.ts';
import { type Chains, openChains } from '../open-chains.ts';
import { readEpoch } from '../solana/reads.ts';

let world: TestChain;
let first: LyingNode;
let second: LyingNode;
let mined: Hex;
const opened: Chains[] = [];

beforeAll(async () => {
  world = await startTestChain();
  first = await startLyingNode((await world.addNode()).url);
  second = await startLyingNode((await world.addNode()).url);
  mined = await world.owner.sendTransaction({ to: world.owner.account.address, value: 1n });
});
afterEach(async () => {
  for (const node of [first, second]) node.lie(null);
  for (const chains of opened.splice(0)) await chains.close();
});
afterAll(async () => {
  for (const node of [first, second]) await node.close();
  await world.close();
});

function connect(urls = [first.url, second.url]) {
  const chains = openChains({ urls: { ethereum_sepolia: urls }, timeoutMs: 2_000, freshnessMs: 25 });
  opened.push(chains);
  return chains.evm('ethereum_sepolia');
}

const fault = (message: string, code = -32_000) => ({ fault: { code, message } });
const replace = (method: string, answer: unknown) => (called: string, result: unknown) =>
  called === method ? answer : result;

describe('an error that does not answer the call', () => {
  test('is asked of the next provider', async () => {
    const evm = connect();
    first.lie(replace('eth_getTransactionReceipt', fault('transaction indexing is in progress')));
    expect(await readReceipts(evm, [mined])).toMatchObject([{ transactionHash: mined, status: '0x1' }]);
    first.lie(() => fault('the method is not available', -32_601));
    const balance = { method: 'eth_getBalance', params: [world.owner.account.address, 'latest'] };
    expect(await evm.rpc.request(balance)).toMatch(/^0x/);
    first.lie(replace('eth_call', fault('missing trie node', -32_000)));
    expect(
      await evm.rpc.request({ method: 'eth_call', params: [{ to: mined.slice(0, 42) }, 'latest'] }),
    ).toBe('0x');
  });

  test('is an upstream error with the reason of the node if no provider answers', async () => {
    const evm = connect();
    for (const node of [first, second])
      node.lie(replace('eth_getTransactionReceipt', fault('transaction indexing is in progress')));
    await expect(readReceipts(evm, [mined])).rejects.toMatchObject({
      code: 'upstream_error',
      details: { upstream: 'rpc:ethereum_sepolia' },
      cause: { message: 'node error -32000: transaction indexing is in progress' },
    });
  });

  test('concerns its own call only, and each provider is asked once', async () => {
    const evm = connect();
    for (const node of [first, second]) node.lie(replace('eth_gasPrice', fault('execution timeout')));
    const before = [first, second].map((node) => node.received('eth_gasPrice'));
    const [id, price] = await evm.rpc.batch([
      { method: 'eth_chainId', params: [] },
      { method: 'eth_gasPrice', params: [] },
    ]);
    expect(id).toEqual({ result: '0xaa36a7' });
    expect(price).toMatchObject({ error: { code: 'upstream_error' } });
    expect([first, second].map((node, i) => node.received('eth_gasPrice') - (before[i] ?? 0))).toEqual([
      1, 1,
    ]);
  });

  test('ends a log query only if no provider answers the query for a single block', async () => {
    const evm = connect();
    const tooLong = (from: string, to: string) => Number(to) - Number(from) > 3;
    const limit = (method: string, result: unknown, [filter]: unknown[]) => {
      const { fromBlock = '', toBlock = '' } = (filter ?? {}) as { fromBlock?: string; toBlock?: string };
      return method === 'eth_getLogs' && tooLong(fromBlock, toBlock)
        ? fault('the plan allows 4 blocks')
        : result;
    };
    for (const node of [first, second]) node.lie(limit);
    const fund = world.deployment.sale_funds.open;
    expect(await readFundEvents(evm, [fund], 0n, 40n)).toEqual([]);
    for (const node of [first, second]) node.lie(replace('eth_getLogs', fault('logs are being indexed')));
    await expect(readFundEvents(evm, [fund], 0n, 40n)).rejects.toMatchObject({ code: 'upstream_error' });
  });

  test('about a block tag is asked of the next provider', async () => {
    const evm = connect();
    const chain = { ...evm, facts: { ...evm.facts, finalityTags: true } };
    first.lie((method, result, [tag]) =>
      method === 'eth_getBlockByNumber' && tag !== 'latest' ? fault('block not available') : result,
    );
    second.lie((method, result, [tag]) =>
      method === 'eth_getBlockByNumber' && tag !== 'latest' ? { number: '0x2' } : result,
    );
    const head = { number: 1_000n, hash: mined };
    expect(await readFinality(chain, head)).toMatchObject({ confirmed: 2n, final: 2n, released: 2n });
    second.lie((method, result, [tag]) =>
      method === 'eth_getBlockByNumber' && tag !== 'latest' ? fault('finalized block not found') : result,
    );
    expect((await readFinality(chain, head)).confirmed).toBeGreaterThan(2n);
    for (const node of [first, second])
      node.lie(replace('eth_getBlockByNumber', fault('internal error', -32_603)));
    await expect(readFinality(chain, head)).rejects.toMatchObject({ code: 'upstream_error' });
  });
});

describe('a provider that refuses batches', () => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      for await (const _ of request);
      response.end(
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not supported"}}',
      );
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  test('is passed over', async () => {
    expect(await readReceipts(connect([url, second.url]), [mined, mined])).toMatchObject([
      { transactionHash: mined },
      { transactionHash: mined },
    ]);
  });

  test('is an upstream error as the only provider', async () => {
    await expect(readReceipts(connect([url]), [mined, mined])).rejects.toMatchObject({
      code: 'upstream_error',
    });
  });
});

describe('on Solana', () => {
  let solana: TestSolana;
  let node: LyingNode;
  beforeAll(async () => {
    solana = await startSolanaChain({ nodes: 2 });
    node = await startLyingNode(solana.nodes[0]?.url ?? '');
  });
  afterAll(async () => {
    await node.close();
    await solana.stop();
  });

  test('errors and missing results are asked of the next provider', async () => {
    const chains = openChains({
      urls: { solana_devnet: [node.url, solana.nodes[1]?.url ?? ''] },
      timeoutMs: 2_000,
    });
    opened.push(chains);
    const chain = chains.solana('solana_devnet');
    node.lie(() => fault('the method is not in your plan', -32_010));
    expect((await readEpoch(chain)).slot).toBeGreaterThanOrEqual(0n);
    node.lie(() => null);
    expect(await chain.rpc.request({ method: 'getGenesisHash' })).toEqual(expect.any(String));
  });
});

test('an error that answers the call is not asked of the next provider', async () => {
  const evm = connect();
  first.lie(replace('eth_call', fault('execution reverted', 3)));
  const before = second.received('eth_call');
  const call = evm.rpc.request({ method: 'eth_call', params: [{ to: mined.slice(0, 42) }, 'latest'] });
  await expect(call).rejects.toMatchObject({ name: 'NodeError', code: 3 });
  expect(second.received('eth_call')).toBe(before);
});

test.each([
  ['eth_getTransactionReceipt', () => mined],
  ['eth_getTransactionByHash', () => mined],
])('what one node does not find with %s is asked of the next provider', async (method, hash) => {
  const evm = connect();
  first.lie(replace(method, null));
  expect(await evm.rpc.request({ method, params: [hash()] })).toMatchObject({
    blockNumber: expect.any(String),
  });
  second.lie(replace(method, null));
  expect(await evm.rpc.request({ method, params: [hash()] })).toBeNull();
  second.lie(replace(method, fault('transaction indexing is in progress')));
  expect(await evm.rpc.request({ method, params: [hash()] })).toBeNull();
});
