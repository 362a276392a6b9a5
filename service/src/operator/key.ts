import type { Registry } from 'prom-client';
import type { Hex } from 'viem';
import type { Clock } from '../clock.ts';
import { type KmsKey, openKmsSigner } from './kms.ts';
import type { SignerPolicy } from './policy.ts';
import type { KeyRole, SendingRole } from './role.ts';
import { localSigner, type Signer } from './signer.ts';

/**
 * The key of one role, on one chain or, if `chain` is null, on all EVM chains. A key of null is one that only other nodes
 * have.
 */
export type RoleKey = { role: KeyRole; chain: string | null } & (
  | { key: OperatorKey }
  | { key: null; address: string }
);

/** A replaced key, and the roles that it had. */
export type RetiredKey = { key: OperatorKey; roles: readonly SendingRole[] };

/** Where a key is held. A local key is a `Buffer`, because the logger never prints buffers. */
export type OperatorKey = ({ kind: 'local'; privateKey: Buffer } | { kind: 'kms'; key: KmsKey }) & {
  /** What the key may sign. If absent, it may call any contract with any amount. */
  policy?: SignerPolicy;
  /** The folder in which the key counts what it signs in 24 hours. If absent, it counts in memory. */
  spendFolder?: string | null;
};

/** Opens a key without its policy. Only `openSigners` may sign with it. */
export async function openKey(key: OperatorKey, clock: Clock, registry?: Registry): Promise<Signer> {
  return key.kind === 'local' ? localSigner(key.privateKey) : openKmsSigner(key.key, clock, registry);
}

export async function readKeyAddress(key: OperatorKey, clock: Clock): Promise<Hex> {
  return (await openKey(key, clock)).address;
}
