import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { type KmsKey, openKmsSigner } from './kms.ts';
import { type SignerPolicy, withPolicy } from './policy.ts';
import { localSigner, type Signer } from './signer.ts';
import { openSpendLedger } from './spend-ledger.ts';

/** Where the operator's key is held. A local key is a `Buffer`, because the logger never prints buffers. */
export type OperatorKey = ({ kind: 'local'; privateKey: Buffer } | { kind: 'kms'; key: KmsKey }) & {
  /** What the key may sign. If absent, it may call any contract with any amount. */
  policy?: SignerPolicy;
  /** The folder in which the key counts what it signs in 24 hours. If absent, it counts in memory. */
  spendFolder?: string | null;
};

export async function openOperatorKey(key: OperatorKey, clock: Clock, registry?: Registry): Promise<Signer> {
  const signer =
    key.kind === 'local' ? localSigner(key.privateKey) : await openKmsSigner(key.key, clock, registry);
  return withPolicy(signer, key.policy ?? null, openSpendLedger(key.spendFolder ?? null, clock));
}
