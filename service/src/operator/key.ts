import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { type KmsKey, openKmsSigner } from './kms.ts';
import { localSigner, type Signer } from './signer.ts';

/** Where the operator's key is held. A local key is a `Buffer`, because the logger never prints buffers. */
export type OperatorKey = { kind: 'local'; privateKey: Buffer } | { kind: 'kms'; key: KmsKey };

export async function openOperatorKey(key: OperatorKey, clock: Clock, registry?: Registry): Promise<Signer> {
  return key.kind === 'local' ? localSigner(key.privateKey) : openKmsSigner(key.key, clock, registry);
}
