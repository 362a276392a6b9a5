import type { OperatorKey } from '@causeway/service/kernel/config/operator-key.ts';
import { deriveSandboxKey, type SandboxKeyLabel } from '@causeway/service/kernel/config/sandbox-keys.ts';
import { privateKeyToAccount } from 'viem/accounts';
import { solanaKey } from './solana-keys.ts';

export type TestWallet = { address: string; private_key: string; protocol: 'ethereum' | 'solana' };

/** The accounts that have a role on the embedded chains. The accounts' keys are derived from public labels. */
export const roles = {
  deployer: privateKeyToAccount(deriveSandboxKey('deployer')),
  /** The account that owns funds, swaps and markets. */
  owner: privateKeyToAccount(deriveSandboxKey('owner')),
  /** The account that owns the venue's contracts. */
  venueOwner: privateKeyToAccount(deriveSandboxKey('venue owner')),
  operator: privateKeyToAccount(deriveSandboxKey('operator')),
  supplier: privateKeyToAccount(deriveSandboxKey('supplier')),
  venueSigner: privateKeyToAccount(deriveSandboxKey('venue signer')),
};

/** Returns a sandbox key in the format of the service's configuration. */
export function sandboxKey(label: SandboxKeyLabel): OperatorKey {
  return { kind: 'local', privateKey: Buffer.from(deriveSandboxKey(label).slice(2), 'hex') };
}

/** Wallets for the sandbox's users. Each wallet holds gas and test dollars on every embedded chain of its protocol. */
export const testWallets: TestWallet[] = [
  ...(['wallet 1', 'wallet 2', 'wallet 3', 'wallet 4', 'wallet 5', 'wallet 6'] as const).map(evmWallet),
  ...(['solana wallet 1', 'solana wallet 2'] as const).map(solanaWallet),
];

function evmWallet(label: SandboxKeyLabel): TestWallet {
  const key = deriveSandboxKey(label);
  return { address: privateKeyToAccount(key).address.toLowerCase(), private_key: key, protocol: 'ethereum' };
}

function solanaWallet(label: SandboxKeyLabel): TestWallet {
  const { address, privateKey } = solanaKey(label);
  return { address, private_key: privateKey, protocol: 'solana' };
}
