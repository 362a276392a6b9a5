import type { Registry } from 'prom-client';
import type { Hex } from 'viem';
import type { Clock } from '../../kernel/clock.ts';
import type { OperatorKey } from '../../kernel/config/operator-key.ts';
import { openKmsSigner } from './kms.ts';
import { localSigner, type Signer } from './signer.ts';

/** Does not enforce the key's policy, so do not sign with it directly: use `openSigners`, which adds the policy. */
export async function openKey(key: OperatorKey, clock: Clock, registry?: Registry): Promise<Signer> {
  return key.kind === 'local' ? localSigner(key.privateKey) : openKmsSigner(key.key, clock, registry);
}

export async function readKeyAddress(key: OperatorKey, clock: Clock): Promise<Hex> {
  return (await openKey(key, clock)).address;
}
