import type { Registry } from 'prom-client';
import type { Hex } from 'viem';
import type { Clock } from '../../kernel/clock.ts';
import type { KeyRole, SendingRole } from '../../kernel/config/role.ts';
import { type KmsKey, openKmsSigner } from './kms.ts';
import type { SignerPolicy } from './policy.ts';
import { localSigner, type Signer } from './signer.ts';

/**
 * The key of one role on one chain. If `chain` is null, the key is for all EVM chains. If only other nodes have the
 * key, `key` is null and `address` is the key's address.
 */
export type RoleKey = { role: KeyRole; chain: string | null } & (
  | { key: OperatorKey }
  | { key: null; address: string }
);

/** A replaced key, and the roles that it had. */
export type RetiredKey = { key: OperatorKey; roles: readonly SendingRole[] };

/** A key in this process or in a KMS. A local key is a `Buffer`, because the logger never prints buffers. */
export type OperatorKey = ({ kind: 'local'; privateKey: Buffer } | { kind: 'kms'; key: KmsKey }) & {
  /** What the key may sign. If absent, the key may sign for any contract and any amount. */
  policy?: SignerPolicy;
  /**
   * The folder that holds the record of what the keys have signed in the last 24 hours. If absent, the record is kept
   * in memory.
   */
  spendFolder?: string | null;
};

/**
 * Opens a key. The returned signer does not enforce the key's policy, so do not sign with it directly: use
 * `openSigners`, which adds the policy.
 */
export async function openKey(key: OperatorKey, clock: Clock, registry?: Registry): Promise<Signer> {
  return key.kind === 'local' ? localSigner(key.privateKey) : openKmsSigner(key.key, clock, registry);
}

export async function readKeyAddress(key: OperatorKey, clock: Clock): Promise<Hex> {
  return (await openKey(key, clock)).address;
}
