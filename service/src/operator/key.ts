import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { type KmsKey, openKmsSigner } from './kms.ts';
import { type SignerTargets, withPolicy } from './policy.ts';
import { localSigner, type Signer } from './signer.ts';

/** Where the operator's key is held. A local key is a `Buffer`, because the logger never prints buffers. */
export type OperatorKey = ({ kind: 'local'; privateKey: Buffer } | { kind: 'kms'; key: KmsKey }) & {
  /** The contracts that the key may call; any if absent. */
  targets?: SignerTargets;
};

export async function openOperatorKey(key: OperatorKey, clock: Clock, registry?: Registry): Promise<Signer> {
  const signer =
    key.kind === 'local' ? localSigner(key.privateKey) : await openKmsSigner(key.key, clock, registry);
  return withPolicy(signer, key.targets ?? null);
}
