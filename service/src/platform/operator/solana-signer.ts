import { sign } from 'node:crypto';
import { encodeTransaction } from '@causeway/contracts/encodings/solana-message.ts';
import { base58 } from '@scure/base';
import type { Registry } from 'prom-client';
import type { Clock } from '../../kernel/clock.ts';
import type { OperatorKey } from '../../kernel/config/operator-key.ts';
import { ed25519Key } from '../../kernel/ed25519-key.ts';
import { isSignedByEd25519 } from '../chain/solana/signed-message.ts';
import { invalidResponse } from '../outbound/failure.ts';
import { openKmsEd25519 } from './kms.ts';

export type SolanaSigner = {
  address: string;
  /** First calls `assertAllowed`, which throws if the message must not be signed. */
  signTransaction(message: Uint8Array, assertAllowed: (message: Uint8Array) => void): Promise<Buffer>;
};

/**
 * Does not enforce the key's policy, so do not sign with it directly: use `openSolanaSigners`, which adds the policy.
 */
export async function openSolanaKey(
  key: OperatorKey,
  clock: Clock,
  registry?: Registry,
): Promise<SolanaSigner> {
  if (key.kind === 'local') return localSolanaSigner(key.privateKey);
  const { publicKey, sign: signRemotely } = await openKmsEd25519(key.key, clock, registry);
  return createSolanaSigner(publicKey, async (message) => {
    const signature = await signRemotely(message);
    if (!(await isSignedByEd25519(publicKey, message, signature)))
      throw invalidResponse('kms', 'signature of another key');
    return signature;
  });
}

export function localSolanaSigner(seed: Uint8Array): SolanaSigner {
  const { privateKey, publicKey } = ed25519Key(seed);
  return createSolanaSigner(publicKey, async (message) => sign(null, message, privateKey));
}

function createSolanaSigner(
  publicKey: Uint8Array,
  signMessage: (message: Uint8Array) => Promise<Buffer>,
): SolanaSigner {
  return {
    address: base58.encode(publicKey),
    signTransaction: async (message, assertAllowed) => {
      assertAllowed(message);
      return Buffer.from(encodeTransaction(message, [await signMessage(message)]));
    },
  };
}
