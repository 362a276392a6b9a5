import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { token } from '@causeway/contracts/abi/token.ts';
import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { type CalldataClaim, verifyCalldata } from '@causeway/contracts/encodings/verify-calldata.ts';
import { testWallets } from '@causeway/sandbox/seed/keys.ts';
import { type Hex, maxUint256 } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  changeEachByte,
  startTokenizedWorld,
  type TokenizedWorld,
  withQuoteOf,
} from '../../../test/support/venue.ts';
import { proveWallets } from '../../../test/support/wallets.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';

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
const failedChecks = async (change: Partial<CalldataClaim>) =>
  (await verifyCalldata(node(), { ...good, ...change })).findings
    .filter(({ ok }) => !ok)
    .map(({ check }) => check);
/** Flips a bit in the given word of the arguments. */
const changed = (word: number, byte = 31) => {
  const at = 10 + word * 64 + byte * 2;
  const flipped = (Number.parseInt(good.data.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0');
  return { data: `${good.data.slice(0, at)}${flipped}${good.data.slice(at + 2)}` };
};

test('issued calldata passes every check', async () => {
  expect(await failedChecks({})).toEqual([]);
});

test.each<[string, () => Partial<CalldataClaim>, string]>([
  ['another wallet', () => ({ wallet: String(testWallets[1]?.address) }), 'operator signature'],
  ['another amount', () => ({ pay_input_amount: '1' }), 'pay_input_amount'],
  ['another fee', () => ({ fee: '1' }), 'fee'],
  ['another notional', () => ({ notional_value: '1' }), 'notional_value'],
  ['another quantity', () => ({ receive_output_amount: '1' }), 'receive_output_amount'],
  ['another expiry', () => ({ expires_at: '2030-01-01T00:00:00.000000Z' }), 'expires_at'],
  ['another call', () => ({ data: '0x12345678' }), 'calldata'],
  ['a changed chain id', () => changed(0), 'chain'],
  ['a changed attestation', () => changed(1), 'venue signature'],
  ['a changed price', () => changed(4), 'venue signature'],
  ['a changed expiration', () => changed(6), 'operator signature'],
  ['a changed side', () => changed(7), 'side'],
  ['a changed payment', () => changed(11), 'operator signature'],
  ["the venue's signature changed", () => changed(14), 'venue signature'],
  ["the operator's signature changed", () => changed(18), 'operator signature'],
  ['non-canonical bytes', () => changed(20), 'calldata'],
])('%s is detected', async (_what, change, check) => {
  expect(await failedChecks(change())).toContain(check);
});

test("another order's quote with the same expiry is detected by its attestation, and by its quantity", async () => {
  const { app, user, wallet, usdc, deployment, call, setPrice, venue } = world;
  const other = { address: testWallets[1]?.address as Hex, key: testWallets[1]?.private_key as Hex };
  await proveWallets(app.ctx, [wallet.address, other.address]);
  await call(other.key, usdc, token, 'approve', [deployment.swap, maxUint256]);
  const place = async () => {
    await app.ctx.db.updateTable('tokenized_orders').set({ holding: false }).execute();
    const { status, body } = await user.call('POST', '/v1/tokenized/swap/transaction', {
      ...{ amount: '1005000000', chain: 'ethereum_sepolia', symbol: 'AAPLon', wallet_address: other.address },
    });
    expect(status).toBe(200);
    return body as { data: Hex; receive_output_amount: string };
  };
  const { data } = (
    await app.ctx.db.selectFrom('events').select('data').where('type', '=', 'tokenized_swap.issued').execute()
  )[0] as { data: { attestation_id: string; receive_output_amount: string } };
  const expected = { attestation_id: data.attestation_id };
  expect(await failedChecks(expected)).toEqual([]);
  const same = await place();
  expect(same.receive_output_amount).toBe(good.receive_output_amount);
  expect(await failedChecks({ ...expected, data: withQuoteOf(good.data as Hex, same.data) })).toEqual([
    'attestation',
  ]);
  await setPrice('AAPLon', 230n * 10n ** 18n);
  const cheaper = await place();
  expect(cheaper.receive_output_amount).not.toBe(good.receive_output_amount);
  expect(await failedChecks({ data: withQuoteOf(good.data as Hex, cheaper.data) })).toEqual([
    'receive_output_amount',
  ]);
  venue.state.assets = {};
});

test('any changed byte of the calldata is detected', async () => {
  const missed: number[] = [];
  for (const [at, data] of changeEachByte(good.data as Hex).entries())
    if ((await verifyCalldata(node(), { ...good, data })).ok) missed.push(at);
  expect(missed).toEqual([]);
}, 120_000);

test.each([
  ['another contract', () => ({ to: world.usdc })],
  ['no contract', () => ({ to: String(testWallets[3]?.address) })],
  ['an invalid address', () => ({ to: '0x12' })],
])('a target with %s is a finding, not an error', async (_what, change) => {
  expect((await verifyCalldata(node(), { ...good, ...change() })).ok).toBe(false);
});

test('an unreachable node is an error', async () => {
  const silent = { request: () => Promise.reject(new Error('no connection')) };
  await expect(verifyCalldata(silent, good)).rejects.toThrow('no connection');
});

test('the verifier only imports viem, so it runs in a browser', () => {
  const seen = new Set<string>();
  const unexpected: string[] = [];
  const visit = (url: URL) => {
    if (seen.has(url.href)) return;
    seen.add(url.href);
    const source = readFileSync(url, 'utf8');
    for (const [, target = ''] of source.matchAll(/^(?! \*).*from '([^']+)'/gm))
      if (target.startsWith('.')) visit(new URL(target, url));
      else if (target !== 'viem' && target !== 'viem/utils') unexpected.push(target);
    if (/\b(Buffer|process|global|require)\b/.test(source)) unexpected.push(url.pathname);
  };
  visit(new URL('../../../../contracts/encodings/verify-calldata.ts', import.meta.url));
  expect(unexpected).toEqual([]);
  expect([...seen].map((url) => url.replace(/.*\/contracts\//, '')).sort()).toEqual([
    'encodings/tokenized-order.ts',
    'encodings/verifier-abi.ts',
    'encodings/verify-calldata.ts',
  ]);
});

test('the command prints the findings and sets its exit code', async () => {
  const bin = fileURLToPath(new URL('../../../bin/causeway.mjs', import.meta.url));
  const run = (reply: object, ...more: string[]) => {
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
      ...more,
    ];
    return promisify(execFile)(process.execPath, [bin, ...args]).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error) => ({ code: error.code as number, stdout: String(error.stdout) }),
    );
  };
  const valid = await run(good);
  expect([valid.code, valid.stdout.includes('FAILED')]).toEqual([0, false]);
  const other = await run(good, '--attestation', '7');
  expect(other.stdout).toMatch(/FAILED\s+attestation/);
  const invalid = await run({ ...good, fee: '7' });
  expect(invalid.code).toBe(1);
  expect(invalid.stdout).toMatch(/FAILED\s+fee/);
}, 60_000);

test('another operator and an executed or expired attestation are detected', async () => {
  const { swap } = world.deployment;
  const owner = deriveSandboxKey('owner');
  const setOperator = (address: Hex) => world.call(owner, swap, tokenizedSwap, 'setOperator', [address]);
  await setOperator(testWallets[2]?.address as Hex);
  expect(await failedChecks({})).toContain('operator signature');
  await setOperator(world.app.ctx.signerOf('quote', 'ethereum_sepolia')?.address as Hex);
  expect(await world.send(world.wallet.key, good.to as Hex, good.data as Hex)).toBe('success');
  expect(await failedChecks({})).toEqual(expect.arrayContaining(['unused', 'operator signature']));
  world.app.clock.advance(31);
  await world.chain.chain.mine(1);
  expect(await failedChecks({})).toContain('in time');
});
