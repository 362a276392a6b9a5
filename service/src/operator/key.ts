import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { type KmsKey, openKmsSigner } from './kms.ts';
import { localSigner, type Signer } from './signer.ts';

/** Where the operator's key lies. The bytes of a local one are a buffer, which no log shows. */
export type OperatorKey = { kind: 'local'; privateKey: Buffer } | { kind: 'kms'; key: KmsKey };

export async function openOperatorKey(key: OperatorKey, clock: Clock, registry?: Registry): Promise<Signer> {
  return key.kind === 'local' ? localSigner(key.privateKey) : openKmsSigner(key.key, clock, registry);
}
