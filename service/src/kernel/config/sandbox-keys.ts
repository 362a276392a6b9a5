import type { Hex } from 'viem';
import { keccak256, toHex } from 'viem/utils';

/** The labels from which all sandbox keys are derived. */
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
  'solana faucet',
  'solana operator',
  'solana standby operator',
  'solana vault owner',
  'solana usd coin',
] as const;

export type SandboxKeyLabel = (typeof SANDBOX_KEY_LABELS)[number];

/** Derives a sandbox key from its label. Anyone can derive the sandbox keys, so they must never hold real value. */
export function deriveSandboxKey(label: SandboxKeyLabel): Hex {
  return keccak256(toHex(`causeway sandbox key: ${label}`));
}

/** Returns whether `privateKey` is a sandbox key. The production profile refuses to start with a sandbox key. */
export function isSandboxKey(privateKey: string): boolean {
  const normalised = privateKey.toLowerCase().replace(/^0x/, '');
  return SANDBOX_KEY_LABELS.some((label) => deriveSandboxKey(label).slice(2) === normalised);
}
