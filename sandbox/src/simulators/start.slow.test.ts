import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createPublicClient, createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testWallets } from '../seed/keys.ts';
import { takeLock } from './lock.ts';
import { type Simulators, startSimulators } from './start.ts';

const recipient: Hex = '0x00000000000000000000000000000000000000aa';
const account = privateKeyToAccount((testWallets[0]?.private_key ?? '0x') as Hex);

let dataDir: string;
const started: Simulators[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'causeway-simulators-'));
});
afterEach(async () => {
  for (const simulators of started.splice(0)) await simulators.stop();
  await rm(dataDir, { recursive: true });
});

async function start() {
  const clock = { now_ms: 1_800_000_000_000, running: false };
  const simulators = await startSimulators({ dataDir, clock });
  started.push(simulators);
  return simulators;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function connect(simulators: Simulators, which: 'rpc_url' | 'service_url' = 'rpc_url') {
  const transport = http(simulators.chains[0]?.[which], { retryCount: 0, timeout: 1000 });
  return {
    reader: createPublicClient({ chain: sepolia, transport, cacheTime: 0, pollingInterval: 20 }),
    writer: createWalletClient({ chain: sepolia, transport, account }),
  };
}

it('restores the chains and their addresses after kill -9', async () => {
  const first = await start();
  const { reader, writer } = connect(first);
  const hash = await writer.sendTransaction({ to: recipient, value: 5n });
  await first.control.call('chains/reorg', { chain: 'ethereum_sepolia', depth: 1 });
  await first.control.call('chains/mine', { chain: 'ethereum_sepolia', blocks: 2 });
  const before = [await reader.getBlock(), await reader.getTransactionReceipt({ hash }), first.chains];
  process.kill(first.pid, 'SIGKILL');
  await first.exited;
  const second = await start();
  const again = connect(second).reader;
  expect([await again.getBlock(), await again.getTransactionReceipt({ hash }), second.chains]).toEqual(
    before,
  );
});

it('rejects a data folder with different contracts', async () => {
  await (await start()).stop();
  await writeFile(join(dataDir, 'outside', 'chains', 'base_sepolia.plan'), '0xother');
  await expect(start()).rejects.toThrow('the contracts have changed since this data folder was created');
});

it('exits with code 0 on SIGTERM', async () => {
  const simulators = await start();
  await simulators.stop();
  expect(await simulators.exited).toBe(0);
});

it('exits when its parent is killed with kill -9', async () => {
  const script = `
    const child = require('node:child_process').fork(process.argv[1], [], { execArgv: [] });
    child.send(JSON.parse(process.argv[2]));
    child.on('message', ({ ready }) => console.log(JSON.stringify({ pid: child.pid, ready: ready !== undefined })));
    setInterval(() => {}, 1000);`;
  const entry = fileURLToPath(new URL('../../bin/simulators.mjs', import.meta.url));
  const init = {
    folder: join(dataDir, 'outside'),
    secret: 's',
    clock: { now_ms: 1_800_000_000_000, running: false },
  };
  const parent = spawn(process.execPath, ['-e', script, entry, JSON.stringify(init)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(parent.stdout, 'data');
  const { pid, ready } = JSON.parse(String(line));
  expect(ready).toBe(true);
  parent.kill('SIGKILL');
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
});

it('waits for the process that holds the data folder to exit', async () => {
  const first = await start();
  const second = start();
  await first.stop();
  expect((await second).chains).toHaveLength(2);
});

it.each([
  ['no lock', null],
  ['the lock of a dead process', JSON.stringify({ url: 'http://127.0.0.1:1', instance: 'dead' })],
  ['an unreadable lock', ''],
  ['a lock without a holder', 'null'],
  ['a lock whose instance is a path', JSON.stringify({ url: 'http://127.0.0.1:1', instance: '../other/x' })],
])('only one process at a time gets the lock, starting with %s', async (_name, content) => {
  const path = join(dataDir, 'lock');
  let holders = 0;
  let maxHolders = 0;
  const holdOnce = async (instance: string) => {
    const server = createServer((_request, response) => response.end(instance));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const release = await takeLock(path, { url, instance });
    maxHolders = Math.max(maxHolders, ++holders);
    await sleep(5);
    holders--;
    await release();
    server.closeAllConnections();
    server.close();
  };
  for (let round = 0; round < 4; round++) {
    if (content !== null) await writeFile(path, content);
    await Promise.all(Array.from({ length: 4 }, (_, index) => holdOnce(`${round}-${index}`)));
    expect([maxHolders, await readdir(dataDir)]).toEqual([1, []]);
  }
});

async function rpc(url: string, body: unknown) {
  const reply = await fetch(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
}

describe('running simulators', () => {
  let simulators: Simulators;
  let ownDataDir: string;
  beforeAll(async () => {
    ownDataDir = await mkdtemp(join(tmpdir(), 'causeway-simulators-'));
    simulators = await startSimulators({
      dataDir: ownDataDir,
      clock: { now_ms: 1_800_000_000_000, running: false },
    });
  });
  afterAll(async () => {
    await simulators.stop();
    await rm(ownDataDir, { recursive: true });
  });

  it('send gas from the faucet', async () => {
    await simulators.control.call('chains/faucet', {
      chain: 'ethereum_sepolia',
      address: recipient,
      amount: '123',
    });
    expect(await connect(simulators).reader.getBalance({ address: recipient })).toBe(123n);
  });

  it('reject invalid faucet and reorg requests with API error codes', async () => {
    const { control } = simulators;
    const chain = 'ethereum_sepolia';
    const requestFaucet = (input: object) =>
      control.call('chains/faucet', { chain, address: recipient, amount: '1', ...input });
    await expect(requestFaucet({ asset_id: 'gold' })).rejects.toMatchObject({ code: 'validation_failed' });
    await expect(requestFaucet({ amount: '-1' })).rejects.toMatchObject({ code: 'validation_failed' });
    await expect(requestFaucet({ amount: (2n ** 255n).toString() })).rejects.toMatchObject({
      code: 'validation_failed',
    });
    await expect(control.call('chains/reorg', { chain, depth: 1000 })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });

  it('reject control calls without the secret', async () => {
    const { control } = simulators;
    const reply = await fetch(`${control.url}/chains/mine`, { method: 'POST', body: '{}' });
    expect(reply.status).toBe(401);
  });

  it('show the new time to reads as soon as the clock is set', async () => {
    await simulators.control.call('clock/set', { now_ms: 1_900_000_000_000, running: false });
    expect((await connect(simulators).reader.getBlock()).timestamp).toBe(1_900_000_000n);
  });

  it('apply faults to the service only', async () => {
    const service = connect(simulators, 'service_url').reader;
    const partner = connect(simulators).reader;
    await simulators.control.call('chains/mine', { chain: 'ethereum_sepolia', blocks: 60 });
    const head = await partner.getBlockNumber();
    for (const mode of ['down', 'slow', 'garbage', 'rate_limited'] as const) {
      await simulators.control.call('chains/fault', { chain: 'ethereum_sepolia', mode });
      await expect(service.getBlockNumber(), mode).rejects.toThrow();
      expect(await partner.getBlockNumber()).toBe(head);
    }
    await simulators.control.call('chains/fault', { chain: 'ethereum_sepolia', mode: 'stale' });
    expect(await service.getBlockNumber()).toBe(head - 50n);
    expect((await service.getBlock()).number).toBe(head - 50n);
    await simulators.control.call('chains/fault', {
      chain: 'ethereum_sepolia',
      mode: 'down',
      for_seconds: 0,
    });
    expect(await service.getBlockNumber()).toBe(head);
  });

  it('serve JSON-RPC to browsers: batches, open CORS, no privileged methods', async () => {
    const url = simulators.chains[0]?.rpc_url ?? '';
    const call = (id: number, method: string, params: unknown[] = []) => ({
      jsonrpc: '2.0',
      id,
      method,
      params,
    });
    const batch = await rpc(url, [call(1, 'eth_chainId'), call(2, 'nope')]);
    expect(batch.body).toMatchObject([
      { id: 1, result: '0xaa36a7' },
      { id: 2, error: { code: -32601 } },
    ]);
    expect(batch.headers.get('access-control-allow-origin')).toBe('*');
    for (const method of [
      'evm_mine',
      'hardhat_setBalance',
      'eth_sendTransaction',
      'debug_traceCall',
      'personal_sign',
    ]) {
      expect((await rpc(url, call(1, method))).body).toMatchObject({ error: { code: -32601 } });
    }
    expect((await rpc(url, '{')).body).toMatchObject({ error: { code: -32700 } });
    expect((await rpc(url, 'x'.repeat(2_000_000))).status).toBe(413);
    expect((await fetch(url, { method: 'OPTIONS' })).status).toBe(204);
    expect((await rpc(`${url}/wrong-key`, call(1, 'eth_chainId'))).status).toBe(404);
  });
});
