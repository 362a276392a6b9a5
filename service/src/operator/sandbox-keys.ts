import type { Hex } from 'viem';
import { keccak256, toHex } from 'viem/utils';

/** Every key of the sandbox has one of these labels. */
export const SANDBOX_KEY_LABELS = [
  'deployer',
  'owner',
  'venue owner',
  'operator',
  'supplier',
  'venue signer',
  'wallet 1',
  'wallet 2',
  'wallet 3',
  'wallet 4',
  'wallet 5',
  'wallet 6',
  'solana wallet 1',
  'solana wallet 2',
] as const;

export type SandboxKeyLabel = (typeof SANDBOX_KEY_LABELS)[number];

/** The sandbox's keys follow from their labels: anyone can compute them, so they must never hold anything of worth. */
export function deriveSandboxKey(label: SandboxKeyLabel): Hex {
  return keccak256(toHex(`causeway sandbox key: ${label}`));
}

/** For the production profile, which refuses to start with one of them. */
export function isSandboxKey(privateKey: string): boolean {
  const normalised = privateKey.toLowerCase().replace(/^0x/, '');
  return SANDBOX_KEY_LABELS.some((label) => deriveSandboxKey(label).slice(2) === normalised);
}
