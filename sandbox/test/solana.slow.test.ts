import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSolanaRpc, type Signature } from '@solana/kit';
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../service/test/support/service.ts';

const chain = 'solana_devnet';

type Overview = {
  chains: {
    chain: string;
    chain_id: number | null;
    rpc_url: string;
    tokens: { asset_id: string; address: string; decimals: number }[];
  }[];
  wallets: { address: string; private_key: string; protocol: string }[];
};

let service: Service;
let dataDir: string;
let overview: Overview;
let mint: never;
let rpc: ReturnType<typeof createSolanaRpc>;

async function start() {
  service = await startService({ CAUSEWAY_DATA: dataDir, CAUSEWAY_CLOCK: 'test' });
  overview = (await (await fetch(`${service.url}/sandbox`)).json()) as Overview;
  const found = overview.chains.find((candidate) => candidate.chain === chain);
  mint = found?.tokens[0]?.address as never;
  rpc = createSolanaRpc(found?.rpc_url ?? '');
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'causeway-sandbox-'));
  await start();
});
afterAll(async () => {
  await service.discard();
  await rm(dataDir, { recursive: true, force: true });
});

async function post(path: string, body: unknown) {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await reply.json()) as Record<string, unknown>;
}

async function dollars(owner: string, commitment: 'processed' | 'confirmed' = 'confirmed') {
  const [account] = await findAssociatedTokenPda({
    owner: owner as never,
    mint,
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  });
  return rpc
    .getTokenAccountBalance(account, { commitment })
    .send()
    .then(({ value }) => value.amount as string)
    .catch(() => null);
}

const lamports = async (owner: string) =>
  (await rpc.getBalance(owner as never, { commitment: 'confirmed' }).send()).value;
const faucet = (body: object) => post(`/sandbox/chains/${chain}/faucet`, body);

const FRESH = [
  'Fresh11111111111111111111111111111111111112',
  'Fresh11111111111111111111111111111111111113',
] as const;

test('the overview lists the chain, its dollar and two funded wallets', async () => {
  const found = overview.chains.find((candidate) => candidate.chain === chain);
  expect(found).toMatchObject({ chain_id: null, tokens: [{ asset_id: 'usd-coin', decimals: 6 }] });
  const wallets = overview.wallets.filter(({ protocol }) => protocol === 'solana');
  expect(wallets).toHaveLength(2);
  for (const { address } of wallets) {
    expect(await lamports(address)).toBeGreaterThan(10n ** 9n);
    expect(await dollars(address)).toBe('1000000000000');
  }
});

test('the faucet pays lamports and dollars, creates the associated account and answers once confirmed', async () => {
  const address = FRESH[0];
  const payment = await faucet({ address, asset_id: 'usd-coin', amount: '7' });
  expect(payment).toMatchObject({ object: 'faucet_payment' });
  expect(await dollars(address)).toBe('7');
  const { value } = await rpc.getSignatureStatuses([payment.transaction_hash as Signature]).send();
  expect(value[0]?.confirmationStatus).not.toBe('processed');
  await Promise.all([1, 2, 3].map(() => faucet({ address, asset_id: 'usd-coin', amount: '1' })));
  expect(await dollars(address)).toBe('10');
  await faucet({ address, amount: '2000000000' });
  expect(await lamports(address)).toBe(2_000_000_000n);
});

test('bad requests get a code and change nothing', async () => {
  const code = async (body: object) => (await faucet(body)).code;
  expect(await code({ address: 'nobody', amount: '1' })).toBe('validation_failed');
  expect(await code({ address: `0x${'aa'.repeat(20)}`, amount: '1' })).toBe('validation_failed');
  expect(await code({ address: FRESH[1], asset_id: 'gold', amount: '1' })).toBe('validation_failed');
  expect(await code({ address: FRESH[1], amount: '1' })).toBe('validation_failed');
  expect(await code({ address: FRESH[1], amount: '18446744073709551616' })).toBe('validation_failed');
  expect(await code({ address: FRESH[1], asset_id: 'usd-coin', amount: '18446744073709551615' })).toBe(
    'contract_reverted',
  );
  expect((await post(`/sandbox/chains/${chain}/reorg`, { depth: 1000 })).code).toBe('validation_failed');
  expect(await dollars(FRESH[1])).toBeNull();
});

test('slots pass by themselves while the test clock is stopped, and faster when it is advanced', async () => {
  const slot = () => rpc.getSlot({ commitment: 'processed' }).send();
  const before = await slot();
  await expect.poll(slot).toBeGreaterThan(before);
  const { block_number } = await post(`/sandbox/chains/${chain}/mine`, { blocks: 1000 });
  expect(Number(block_number)).toBeGreaterThan(Number(before) + 1000);
  await post('/sandbox/clock', { advance_seconds: 3600 });
  expect(Number(await slot())).toBeGreaterThanOrEqual(Number(block_number) + 9000);
});

test('a reorg takes back what is not final', async () => {
  await post(`/sandbox/chains/${chain}/interval`, { milliseconds: 60_000 });
  const wallet = FRESH[1];
  await rpc.getSlot().send();
  const airdrop = { jsonrpc: '2.0', id: 1, method: 'requestAirdrop', params: [wallet, 1_000_000_000] };
  const url = overview.chains.find((candidate) => candidate.chain === chain)?.rpc_url ?? '';
  await fetch(url, { method: 'POST', body: JSON.stringify(airdrop) });
  await post(`/sandbox/chains/${chain}/mine`, { blocks: 2 });
  expect(await lamports(wallet)).toBe(1_000_000_000n);
  expect(await post(`/sandbox/chains/${chain}/reorg`, { depth: 3, transactions: 'drop' })).toMatchObject({
    object: 'chain_head',
  });
  expect(await lamports(wallet)).toBe(0n);
  await post(`/sandbox/chains/${chain}/interval`, { milliseconds: 400 });
});

test('a fault is not seen by other clients of the chain', async () => {
  await post('/sandbox/faults', { target: `rpc:${chain}`, mode: 'down' });
  expect(await rpc.getHealth().send()).toBe('ok');
  await post('/sandbox/faults', { target: `rpc:${chain}`, mode: 'none' });
});

test('acknowledged transactions survive kill -9', async () => {
  await faucet({ address: FRESH[0], asset_id: 'usd-coin', amount: '90' });
  const slot = await rpc.getSlot({ commitment: 'processed' }).send();
  await service.stop('SIGKILL');
  await start();
  expect(await dollars(FRESH[0])).toBe('100');
  expect(await rpc.getSlot({ commitment: 'processed' }).send()).toBeGreaterThanOrEqual(slot);
});
