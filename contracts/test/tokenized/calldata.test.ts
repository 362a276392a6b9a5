import { type Hex, hexToBytes, isHex, toHex } from 'viem';
import { beforeAll, expect, it } from 'vitest';
import { accounts, type Chain, encodeCall, startChain } from '../chain.ts';
import { type Deployment, deployTokenized, signedSwap } from './swap.ts';

const { alice } = accounts;
const invalidCalldata = '0x8129bbcd';
let chain: Chain;
let deployment: Deployment;
let data: Hex;

beforeAll(async () => {
  chain = await startChain();
  deployment = await deployTokenized(chain);
  data = encodeCall(await signedSwap(chain, deployment));
});

/** Returns the error selector that the call reverts with, `reverts` if it has none, or null if the call succeeds. */
async function revertSelector(changed: Hex): Promise<string | null> {
  const params = [{ from: alice.address, to: deployment.swap.address, data: changed }, 'latest'];
  return chain.evm.request({ method: 'eth_call', params }).then(
    () => null,
    (error: { data?: unknown }) => (isHex(error.data) ? error.data.slice(0, 10) : 'reverts'),
  );
}

/** Returns the word at byte `start` of the arguments as a number. */
const offsetAt = (start: number) => Number(BigInt(`0x${data.slice(10 + start * 2, 10 + start * 2 + 64)}`));

function setOffset(source: Hex, start: number, value: number): Hex {
  const at = 10 + start * 2;
  return `${source.slice(0, at)}${value.toString(16).padStart(64, '0')}${source.slice(at + 64)}` as Hex;
}

it('a signed call succeeds unchanged', async () => {
  expect(await revertSelector(data)).toBeNull();
});

it('a signed call reverts if any byte is changed', async () => {
  const bytes = hexToBytes(data);
  const passed: number[] = [];
  for (const [at, byte] of bytes.entries()) {
    const changed = bytes.slice();
    changed[at] = byte ^ (1 + (at % 255));
    if ((await revertSelector(toHex(changed))) === null) passed.push(at);
  }
  expect(passed).toEqual([]);
}, 120_000);

it('a signed call reverts with extra or missing bytes at the end', async () => {
  for (const tail of ['00', '01', '00'.repeat(32), 'ff'.repeat(32)])
    expect([tail, await revertSelector(`${data}${tail}`)]).toEqual([tail, invalidCalldata]);
  for (const cut of [1, 30, 31, 32])
    expect([cut, await revertSelector(data.slice(0, -2 * cut) as Hex)]).not.toEqual([cut, null]);
});

it('a signed call reverts if the same arguments are encoded differently', async () => {
  const [venueAt, operatorAt] = [9 * 32, 12 * 32];
  const [venue, operator] = [offsetAt(venueAt), offsetAt(operatorAt)];
  const cut = 10 + operator * 2;
  const gap = `${data.slice(0, cut)}${'00'.repeat(32)}${data.slice(cut)}` as Hex;
  expect(await revertSelector(setOffset(gap, operatorAt, operator + 32))).toBe(invalidCalldata);
  const swapped =
    `${data.slice(0, 10 + venue * 2)}${data.slice(cut)}${data.slice(10 + venue * 2, cut)}` as Hex;
  const moved = setOffset(setOffset(swapped, venueAt, operator), operatorAt, venue);
  expect(await revertSelector(moved)).toBe(invalidCalldata);
});
