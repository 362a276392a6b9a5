import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { type CalldataClaim, verifyCalldata } from '@causeway/contracts/encodings/verify-calldata.ts';
import { testWallets } from '@causeway/sandbox/seed/keys.ts';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeEachByte, startTokenizedWorld, type TokenizedWorld } from '../../test/support/venue.ts';
import { deriveSandboxKey } from '../operator/sandbox-keys.ts';

let world: TokenizedWorld;
let good: CalldataClaim;
const folder = mkdtempSync(join(tmpdir(), 'causeway-verify-'));
beforeAll(async () => {
  world = await startTokenizedWorld();
  world.venue.state.session = 'regular';
  const { status, body } = await world.user.call('POST', '/v1/tokenized/swap/transaction', {
    ...{ amount: '1005000000', chain: 'ethereum_sepolia', symbol: 'AAPLon' },
    wallet_address: world.wallet.address,
  });
  expect(status).toBe(200);
  good = { ...(body as unknown as CalldataClaim), wallet: world.wallet.address };
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world.close();
});

const node = () => ({
  request: (call: { method: string; params?: unknown }) => world.chain.chain.request(call),
});
const wrong = async (change: Partial<CalldataClaim>) =>
  (await verifyCalldata(node(), { ...good, ...change })).findings
    .filter(({ ok }) => !ok)
    .map(({ check }) => check);
/** Flips a bit of the word at this place of the arguments. */
const changed = (word: number, byte = 31) => {
  const at = 10 + word * 64 + byte * 2;
  const flipped = (Number.parseInt(good.data.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0');
  return { data: `${good.data.slice(0, at)}${flipped}${good.data.slice(at + 2)}` };
};

test('calldata as we gave it stands every check', async () => {
  expect(await wrong({})).toEqual([]);
});

test.each<[string, () => Partial<CalldataClaim>, string]>([
  ['another wallet', () => ({ wallet: String(testWallets[1]?.address) }), 'operator signature'],
  ['another amount', () => ({ pay_input_amount: '1' }), 'pay_input_amount'],
  ['another fee', () => ({ fee: '1' }), 'fee'],
  ['another notional', () => ({ notional_value: '1' }), 'notional_value'],
  ['another quantity', () => ({ receive_output_amount: '1' }), 'receive_output_amount'],
  ['another expiry', () => ({ expires_at: '2030-01-01T00:00:00.000000Z' }), 'expires_at'],
  ['no swap at all', () => ({ data: '0x12345678' }), 'calldata'],
  ['a changed chain id', () => changed(0), 'chain'],
  ['a changed attestation', () => changed(1), 'venue signature'],
  ['a changed price', () => changed(4), 'venue signature'],
  ['a changed expiration', () => changed(6), 'operator signature'],
  ['a changed side', () => changed(7), 'side'],
  ['a changed payment', () => changed(11), 'operator signature'],
  ["the venue's signature changed", () => changed(14), 'venue signature'],
  ["the operator's signature changed", () => changed(18), 'operator signature'],
  ['bytes that mean nothing', () => changed(20), 'calldata'],
])('%s is found', async (_what, change, check) => {
  expect(await wrong(change())).toContain(check);
});

test('whichever byte of the calldata is changed is found', async () => {
  const missed: number[] = [];
  for (const [at, data] of changeEachByte(good.data as Hex).entries())
    if ((await verifyCalldata(node(), { ...good, data })).ok) missed.push(at);
  expect(missed).toEqual([]);
}, 120_000);

test.each([
  ['no swap contract', () => ({ to: world.usdc })],
  ['no contract at all', () => ({ to: String(testWallets[3]?.address) })],
  ['no address', () => ({ to: '0x12' })],
])('%s is a finding, not a failure', async (_what, change) => {
  expect((await verifyCalldata(node(), { ...good, ...change() })).ok).toBe(false);
});

test('a node that does not answer gives no verdict', async () => {
  const silent = { request: () => Promise.reject(new Error('no connection')) };
  await expect(verifyCalldata(silent, good)).rejects.toThrow('no connection');
});

test('it needs viem and nothing else, so that it runs in a browser', () => {
  const seen = new Set<string>();
  const foreign: string[] = [];
  const visit = (url: URL) => {
    if (seen.has(url.href)) return;
    seen.add(url.href);
    const source = readFileSync(url, 'utf8');
    for (const [, target = ''] of source.matchAll(/^(?! \*).*from '([^']+)'/gm))
      if (target.startsWith('.')) visit(new URL(target, url));
      else if (target !== 'viem' && target !== 'viem/utils') foreign.push(target);
    if (/\b(Buffer|process|global|require)\b/.test(source)) foreign.push(url.pathname);
  };
  visit(new URL('../../../contracts/encodings/verify-calldata.ts', import.meta.url));
  expect(foreign).toEqual([]);
  expect([...seen].map((url) => url.replace(/.*\/contracts\//, '')).sort()).toEqual([
    'encodings/tokenized-abi.ts',
    'encodings/tokenized-order.ts',
    'encodings/verify-calldata.ts',
  ]);
});

test('the command tells a partner the same, by its exit code', async () => {
  const bin = fileURLToPath(new URL('../../bin/causeway.mjs', import.meta.url));
  const run = (reply: object) => {
    const file = join(folder, 'reply.json');
    writeFileSync(file, JSON.stringify(reply));
    const args = [
      'verify-calldata',
      '--rpc',
      world.node.url,
      '--wallet',
      world.wallet.address,
      '--reply',
      file,
    ];
    return promisify(execFile)(process.execPath, [bin, ...args]).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error) => ({ code: error.code as number, stdout: String(error.stdout) }),
    );
  };
  const fine = await run(good);
  expect([fine.code, fine.stdout.includes('WRONG')]).toEqual([0, false]);
  const bad = await run({ ...good, fee: '7' });
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/WRONG\s+fee/);
}, 60_000);

test('another operator, an executed attestation and one that is over are found', async () => {
  const { swap } = world.deployment;
  const owner = deriveSandboxKey('owner');
  const setOperator = (address: Hex) => world.call(owner, swap, tokenizedSwap, 'setOperator', [address]);
  await setOperator(testWallets[2]?.address as Hex);
  expect(await wrong({})).toContain('operator signature');
  await setOperator(world.app.ctx.operator?.address as Hex);
  expect(await world.send(world.wallet.key, good.to as Hex, good.data as Hex)).toBe('success');
  expect(await wrong({})).toEqual(expect.arrayContaining(['unused', 'operator signature']));
  world.app.clock.advance(31);
  await world.chain.chain.mine(1);
  expect(await wrong({})).toContain('in time');
});
