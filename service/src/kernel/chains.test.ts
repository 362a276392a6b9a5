import { roles, testWallets } from '@causeway/sandbox/seed/keys.ts';
import { EMBEDDED_CHAINS } from '@causeway/sandbox/simulators/chains/embedded.ts';
import { expect, it } from 'vitest';
import { CHAIN_FACTS, EVM_CHAIN_NAMES } from './chains.ts';
import { deriveSandboxKey, isSandboxKey, SANDBOX_KEY_LABELS } from './config/sandbox-keys.ts';
import { CHAINS, EVM_CHAINS } from './wire.ts';

it('lists exactly the chains of the API', () => {
  expect(Object.keys(CHAIN_FACTS).sort()).toEqual([...CHAINS].sort());
  expect([...EVM_CHAIN_NAMES].sort()).toEqual([...EVM_CHAINS].sort());
});

it('has the same chain ids as the embedded chains', () => {
  for (const { chain, chainId } of EMBEDDED_CHAINS) expect(CHAIN_FACTS[chain].chainId).toBe(chainId);
});

it('recognises every sandbox key in any notation, and no other key', () => {
  const known = SANDBOX_KEY_LABELS.map(deriveSandboxKey);
  expect(new Set(known).size).toBe(SANDBOX_KEY_LABELS.length);
  const evm = testWallets
    .filter(({ protocol }) => protocol === 'ethereum')
    .map(({ private_key }) => private_key);
  for (const key of [...known, ...evm]) {
    expect(isSandboxKey(key)).toBe(true);
    expect(isSandboxKey(key.slice(2).toUpperCase())).toBe(true);
  }
  const evmRoles = SANDBOX_KEY_LABELS.filter((label) => !/^(solana|wallet) /.test(label));
  expect(Object.keys(roles)).toHaveLength(evmRoles.length);
  expect(isSandboxKey(`0x${'11'.repeat(32)}`)).toBe(false);
});
