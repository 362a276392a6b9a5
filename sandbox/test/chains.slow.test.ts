import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../service/test/support/service.ts';

const chain = 'ethereum_sepolia';
const address = '0x00000000000000000000000000000000000000aa';

type Reply = { code: string; balance: string; access_token: string; block_number: number; now: string };
type Overview = {
  chains: { chain: string; rpc_url: string; tokens: { asset_id: string; address: string }[] }[];
  users: [{ email: string }];
};

let service: Service;
let dataDir: string;
let token: string;
let usdc: string;
let rpcUrl: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'causeway-sandbox-'));
  service = await startService({ CAUSEWAY_DATA: dataDir, CAUSEWAY_CLOCK: 'test' });
  const sandbox = (await (await fetch(`${service.url}/sandbox`)).json()) as Overview;
  const found = sandbox.chains.find((candidate) => candidate.chain === chain);
  usdc = found?.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address ?? '';
  rpcUrl = found?.rpc_url ?? '';
  token = (await post('/sandbox/token', { email: sandbox.users[0].email })).body.access_token;
});
afterAll(async () => {
  await service.discard();
  await rm(dataDir, { recursive: true, force: true });
});

async function post(path: string, body: unknown) {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: reply.status, body: (await reply.json()) as Reply };
}

async function balance(owner = address) {
  const query = new URLSearchParams({ chain, token_address: usdc, owner });
  const headers = { authorization: `Bearer ${token}` };
  const reply = await fetch(`${service.url}/v1/token/balance?${query}`, { headers });
  const body = (await reply.json()) as Reply;
  return body.balance ?? body.code;
}

async function rpc<T = string>(method: string, params: unknown[] = []) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const reply = await fetch(rpcUrl, { method: 'POST', body });
  return ((await reply.json()) as { result: T }).result;
}

test('the next read shows what the faucet paid', async () => {
  for (let i = 1; i <= 5; i++) {
    const payment = await post(`/sandbox/chains/${chain}/faucet`, {
      address,
      asset_id: 'usd-coin',
      amount: '3',
    });
    expect(payment.body).toMatchObject({
      object: 'faucet_payment',
      transaction_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    expect(await balance()).toBe(String(3 * i));
  }
  await post(`/sandbox/chains/${chain}/faucet`, { address, amount: '12' });
  expect(Number(await rpc('eth_getBalance', [address, 'latest']))).toBe(12);
});

test('the transactions of dropped blocks are mined again after a moment, as on a real chain', async () => {
  const owner = '0x00000000000000000000000000000000000000be';
  await post(`/sandbox/chains/${chain}/faucet`, { address: owner, asset_id: 'usd-coin', amount: '7' });
  await post(`/sandbox/chains/${chain}/reorg`, { depth: 1 });
  expect(await balance(owner)).toBe('0');
  await expect.poll(() => balance(owner)).toBe('7');
});

test('a reorg undoes the transactions of the dropped blocks until they are mined again', async () => {
  const owner = '0x00000000000000000000000000000000000000bb';
  await post(`/sandbox/chains/${chain}/faucet`, { address: owner, asset_id: 'usd-coin', amount: '9' });
  const { block_number } = (await post(`/sandbox/chains/${chain}/mine`, { blocks: 2 })).body;
  const reorg = await post(`/sandbox/chains/${chain}/reorg`, { depth: 3 });
  expect(reorg.body).toEqual({ object: 'chain_head', chain, block_number });
  expect(await balance(owner)).toBe('0');
  await post(`/sandbox/chains/${chain}/mine`, { blocks: 1 });
  expect(await balance(owner)).toBe('9');
});

test('the controls reject invalid requests with error codes', async () => {
  const code = async (path: string, body: unknown) => (await post(path, body)).body.code;
  expect(await code(`/sandbox/chains/${chain}/reorg`, { depth: 1000 })).toBe('validation_failed');
  expect(await code(`/sandbox/chains/${chain}/mine`, { blocks: 0 })).toBe('validation_failed');
  expect(await code(`/sandbox/chains/${chain}/faucet`, { address, asset_id: 'gold', amount: '1' })).toBe(
    'validation_failed',
  );
  expect(await code('/sandbox/chains/ethereum_mainnet/mine', { blocks: 1 })).toBe('chain_not_supported');
  expect(await code('/sandbox/faults', { target: 'rpc:nowhere', mode: 'down' })).toBe('validation_failed');
});

test('a fault affects only the service and can be cleared', async () => {
  await post('/sandbox/faults', { target: `rpc:${chain}`, mode: 'garbage' });
  expect(await balance('0x00000000000000000000000000000000000000cc')).toBe('upstream_error');
  expect(await rpc('eth_chainId')).toBe('0xaa36a7');
  await post('/sandbox/faults', { target: `rpc:${chain}`, mode: 'none' });
  expect(await balance('0x00000000000000000000000000000000000000cc')).toBe('0');
});

test('the chain follows the test clock', async () => {
  const { now } = (await post('/sandbox/clock', { advance_seconds: 86_400 })).body;
  const { timestamp } = await rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false]);
  expect(Number(timestamp)).toBe(Math.floor(Date.parse(now) / 1000));
});

test('a restart does not move the test clock', async () => {
  const now = '2040-01-01T00:00:00.000000Z';
  await post('/sandbox/clock', { set_to: now });
  await service.stop('SIGKILL');
  service = await startService({ CAUSEWAY_DATA: dataDir, CAUSEWAY_CLOCK: 'test' });
  expect((await post('/sandbox/clock', { advance_seconds: 0 })).body.now).toBe(now);
});
