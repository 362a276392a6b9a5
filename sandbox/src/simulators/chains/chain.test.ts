import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, createWalletClient, custom, type Hex, parseEther } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Chain, openChain } from './chain.ts';

const key: Hex = `0x${'11'.repeat(32)}`;
const account = privateKeyToAccount(key);
const recipient: Hex = '0x00000000000000000000000000000000000000aa';
const start = 1_735_689_600;

let folder: string;
let time = start;
let protectedBlocks = 0;
const opened: Chain[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-chain-'));
  time = start;
  protectedBlocks = 0;
});
afterEach(async () => {
  for (const chain of opened.splice(0)) await chain.close();
  await rm(folder, { recursive: true });
});

async function open() {
  const chain = await openChain(
    {
      genesis: {
        chainId: sepolia.id,
        accounts: [{ address: account.address, balance: parseEther('1000') }],
        genesisTimestamp: start,
      },
      journalPath: join(folder, 'chain.jsonl'),
      now: () => time,
    },
    () => protectedBlocks,
  );
  opened.push(chain);
  const transport = custom(chain);
  const reader = createPublicClient({ chain: sepolia, transport, cacheTime: 0 });
  const writer = createWalletClient({ chain: sepolia, transport, account });
  const pay = (nonce: number, value = 1n) =>
    writer.sendTransaction({ to: recipient, value, nonce, gas: 21_000n });
  const balance = () => reader.getBalance({ address: recipient });
  const hashes = async () => {
    const blocks = [];
    for (let number = 0n; number <= BigInt(chain.height()); number++)
      blocks.push((await reader.getBlock({ blockNumber: number })).hash);
    return blocks;
  };
  return { chain, reader, pay, balance, hashes };
}

it('mines a transaction before it returns the hash', async () => {
  const { pay, reader } = await open();
  const receipt = await reader.getTransactionReceipt({ hash: await pay(0) });
  expect(receipt.status).toBe('success');
});

it('restores the same block hashes, receipts and nonces when reopened', async () => {
  const first = await open();
  for (let nonce = 0; nonce < 5; nonce++) {
    time += 7;
    await first.pay(nonce);
  }
  await first.chain.mine(3);
  await first.chain.reorg({ depth: 2, transactions: 'return' });
  const hash = await first.pay(5);
  const before = {
    hashes: await first.hashes(),
    receipt: await first.reader.getTransactionReceipt({ hash }),
  };
  time += 1000;
  const second = await open();
  expect({
    hashes: await second.hashes(),
    receipt: await second.reader.getTransactionReceipt({ hash }),
  }).toEqual(before);
  expect(await second.reader.getTransactionCount({ address: account.address })).toBe(6);
});

it('reproduces blocks whose base fee was set', async () => {
  const { chain, pay, hashes } = await open();
  await chain.request({ method: 'hardhat_setNextBlockBaseFeePerGas', params: ['0xba43b7400'] });
  await chain.mine(1);
  await pay(0);
  await chain.reorg({ depth: 1, transactions: 'return' });
  expect(await (await open()).hashes()).toEqual(await hashes());
});

it('continues from the last complete record when a crash left half a line', async () => {
  const first = await open();
  await first.pay(0);
  const hashes = await first.hashes();
  await appendFile(join(folder, 'chain.jsonl'), '{"block":2,"hash":"0xab');
  const second = await open();
  expect(await second.hashes()).toEqual(hashes);
  await second.pay(1);
  expect(await (await open()).balance()).toBe(2n);
});

it('rejects a journal that replays to different blocks', async () => {
  const { pay } = await open();
  await pay(0);
  const path = join(folder, 'chain.jsonl');
  await writeFile(
    path,
    (await readFile(path, 'utf8')).replace(/"timestamp":\d+/, `"timestamp":${start + 99}`),
  );
  await expect(open()).rejects.toThrow('did not reproduce its blocks');
});

it('keeps transactions whose nonce is ahead until the gap is filled', async () => {
  const { chain, pay, balance } = await open();
  await pay(1, 10n);
  expect([chain.height(), await balance()]).toEqual([0, 0n]);
  await pay(0, 5n);
  expect([chain.height(), await balance()]).toEqual([1, 15n]);
});

it('mines every transaction of a burst once, sharing blocks', async () => {
  const { chain, pay, balance } = await open();
  const hashes = await Promise.all(Array.from({ length: 40 }, (_, nonce) => pay(nonce)));
  expect(new Set(hashes).size).toBe(40);
  expect(await balance()).toBe(40n);
  expect(chain.height()).toBeLessThan(40);
});

it('mines transactions once when they are sent twice during mining and reorgs', async () => {
  const { chain, balance } = await open();
  const raws = await Promise.all(
    Array.from({ length: 200 }, (_, nonce) =>
      account.signTransaction({
        ...{ type: 'eip1559', chainId: sepolia.id, nonce, to: recipient, value: 1n, gas: 21_000n },
        ...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 0n },
      }),
    ),
  );
  const send = (raw: Hex) => chain.request({ method: 'eth_sendRawTransaction', params: [raw] });
  for (let i = 0; i < raws.length; i += 4) {
    const batch = raws.slice(i, i + 4);
    const sent = [...batch, ...batch].map((raw) => send(raw).catch(() => undefined));
    if (i % 20 === 0) await chain.reorg({ depth: 1, transactions: 'return' }).catch(() => undefined);
    if (i % 3 === 0) await chain.mine(1);
    if (i % 5 === 0) await Promise.all(sent);
  }
  await chain.mine(2);
  expect(await balance()).toBe(200n);
});

it('returns the transactions of dropped blocks to the mempool', async () => {
  const { chain, reader, pay, balance, hashes } = await open();
  await pay(0, 100n);
  const hash = await pay(1, 10n);
  await chain.mine(1);
  const before = await hashes();
  await chain.reorg({ depth: 2, transactions: 'return' });
  const after = await hashes();
  expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
  expect(after).toHaveLength(before.length);
  expect(after[2]).not.toBe(before[2]);
  expect(after[3]).not.toBe(before[3]);
  expect(await balance()).toBe(100n);
  await expect(reader.getTransactionReceipt({ hash })).rejects.toThrow('could not be found');
  await chain.mine(1);
  expect((await reader.getTransactionReceipt({ hash })).status).toBe('success');
});

it('discards the transactions of dropped blocks with `drop`', async () => {
  const { chain, reader, pay, balance } = await open();
  const hash = await pay(0);
  await chain.reorg({ depth: 1, transactions: 'drop' });
  await chain.mine(1);
  expect(await balance()).toBe(0n);
  await expect(reader.getTransaction({ hash })).rejects.toThrow('could not be found');
});

it('mines different blocks in each of several reorgs', async () => {
  const { chain, hashes } = await open();
  await chain.mine(1);
  const seen = new Set();
  for (let i = 0; i < 4; i++) {
    seen.add((await hashes())[1]);
    await chain.reorg({ depth: 1, transactions: 'drop' });
  }
  expect(seen.size).toBe(4);
});

it('rejects a reorg of protected blocks and keeps working', async () => {
  const { chain, pay, balance } = await open();
  await chain.mine(3);
  protectedBlocks = 2;
  await expect(chain.reorg({ depth: 2, transactions: 'drop' })).rejects.toThrow('at most 1 blocks');
  await pay(0);
  expect(await balance()).toBe(1n);
});

it('takes block timestamps from the clock without running ahead or back', async () => {
  const { chain, reader } = await open();
  time = start + 50;
  await chain.mine(20);
  expect(Number((await reader.getBlock()).timestamp)).toBe(start + 50);
  time = start + 10;
  await chain.mine(1);
  expect(Number((await reader.getBlock()).timestamp)).toBe(start + 50);
});

it('mines by interval, then on every transaction again', async () => {
  const { chain, pay, balance, reader } = await open();
  chain.setBlockInterval(50);
  const hash = await pay(0);
  await reader.waitForTransactionReceipt({ hash, pollingInterval: 10 });
  chain.setBlockInterval(0);
  await pay(1);
  expect(await balance()).toBe(2n);
});
