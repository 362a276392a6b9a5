import { secp256k1 } from '@noble/curves/secp256k1.js';
import { AwsV4Signer } from 'aws4fetch';
import type { Registry } from 'prom-client';
import type { Hex } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { bytesToHex, concat, hexToBytes, numberToHex, recoverAddress } from 'viem/utils';
import type { Clock } from '../../kernel/clock.ts';
import type { KmsKey } from '../../kernel/config/operator-key.ts';
import { ED25519_SPKI_PREFIX } from '../../kernel/ed25519-key.ts';
import { invalidResponse } from '../outbound/failure.ts';
import { openUpstream } from '../outbound/upstream.ts';
import { createSigner, type Signer } from './signer.ts';

const TIMEOUT_MS = 5_000;
const MAX_ATTEMPTS = 3;
const { ORDER } = secp256k1.Point.Fn;
// The DER bytes before the curve point in the SubjectPublicKeyInfo of an uncompressed secp256k1 key (RFC 5480
// §2).
const SPKI_PREFIX = Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex');

/** Opens a signer whose key never leaves AWS KMS. Reads the public key, and throws if the key cannot be used. */
export async function openKmsSigner(key: KmsKey, clock: Clock, registry?: Registry): Promise<Signer> {
  const call = openKms(key, clock, registry);
  const { PublicKey: encoded } = await call('GetPublicKey', { KeyId: key.keyId });
  const spki = Buffer.from(String(encoded), 'base64');
  if (spki.length !== SPKI_PREFIX.length + 65 || !spki.subarray(0, SPKI_PREFIX.length).equals(SPKI_PREFIX))
    throw new Error('The KMS key must be of type ECC_SECG_P256K1 (curve secp256k1).');
  const address = publicKeyToAddress(bytesToHex(spki.subarray(SPKI_PREFIX.length)));
  return createSigner(address, async (hash) => {
    const { Signature: signature } = await call('Sign', {
      KeyId: key.keyId,
      Message: Buffer.from(hexToBytes(hash)).toString('base64'),
      MessageType: 'DIGEST',
      SigningAlgorithm: 'ECDSA_SHA_256',
    });
    return toRecoverable(hash, address, Buffer.from(String(signature), 'base64'));
  });
}

export async function openKmsEd25519(
  key: KmsKey,
  clock: Clock,
  registry?: Registry,
): Promise<{ publicKey: Buffer; sign(message: Uint8Array): Promise<Buffer> }> {
  const call = openKms(key, clock, registry);
  const { PublicKey: encoded } = await call('GetPublicKey', { KeyId: key.keyId });
  const spki = Buffer.from(String(encoded), 'base64');
  const prefix = spki.subarray(0, ED25519_SPKI_PREFIX.length);
  if (spki.length !== prefix.length + 32 || !prefix.equals(ED25519_SPKI_PREFIX))
    throw new Error('The KMS key must be of type ECC_NIST_EDWARDS25519 (Ed25519).');
  return {
    publicKey: spki.subarray(prefix.length),
    sign: async (message) => {
      const { Signature: signature } = await call('Sign', {
        KeyId: key.keyId,
        Message: Buffer.from(message).toString('base64'),
        MessageType: 'RAW',
        SigningAlgorithm: 'ED25519_SHA_512',
      });
      return Buffer.from(String(signature), 'base64');
    },
  };
}

/** Replaces a high `s` with the equivalent low `s`. Finds `v` by trial, because KMS returns no recovery bit. */
async function toRecoverable(hash: Hex, address: Hex, der: Buffer): Promise<Hex> {
  const { r, s } = readDerSignature(der);
  const low = s > ORDER / 2n ? ORDER - s : s;
  const body = concat([numberToHex(r, { size: 32 }), numberToHex(low, { size: 32 })]);
  for (const v of ['0x1b', '0x1c'] as const) {
    const signature = concat([body, v]);
    if ((await recoverAddress({ hash, signature })).toLowerCase() === address.toLowerCase()) return signature;
  }
  throw invalidResponse('kms', 'signature of another key');
}

/** Parses an ECDSA-Sig-Value (RFC 3279 §2.2.3). Accepts only strict DER. */
export function readDerSignature(der: Uint8Array): { r: bigint; s: bigint } {
  try {
    const { r, s } = secp256k1.Signature.fromBytes(der, 'der');
    return { r, s };
  } catch {
    throw invalidResponse('kms', 'signature is not DER');
  }
}

type KmsCall = (action: string, input: Record<string, string>) => Promise<Record<string, unknown>>;

/** Retries failed calls, because signing the same hash twice does no harm. */
function openKms(key: KmsKey, clock: Clock, registry: Registry | undefined): KmsCall {
  const url = new URL(key.endpoint ?? `https://kms.${key.region}.amazonaws.com/`);
  const upstream = openUpstream({
    name: 'kms',
    url: url.href,
    timeoutMs: TIMEOUT_MS,
    ...(registry && { registry }),
  });
  const path = url.pathname === '/' ? '/' : '';
  return async (action, input) => {
    const body = JSON.stringify(input);
    for (let attempt = 1; ; attempt++) {
      const headers = await signRequest(key, url.href, action, body, clock);
      const request = { path, headers: () => headers, body, isRepeatable: true };
      const reply = await upstream.request({ method: 'POST', ...request });
      const result = (reply.body ?? {}) as Record<string, unknown>;
      if (reply.status === 200) return result;
      const type = errorType(result);
      const isTransient = reply.status >= 500 || type.includes('ThrottlingException');
      if (!isTransient || attempt === MAX_ATTEMPTS)
        throw invalidResponse('kms', `HTTP ${reply.status} ${type}`);
    }
  };
}

async function signRequest(
  { region, credentials: { sessionToken, ...credentials } }: KmsKey,
  url: string,
  action: string,
  body: string,
  clock: Clock,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    ...credentials,
    ...(sessionToken !== null && { sessionToken }),
    ...{ method: 'POST', url, body, region, service: 'kms' },
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `TrentService.${action}` },
    datetime: new Date(clock.now()).toISOString().replace(/[-:]|\.\d{3}/g, ''),
  });
  const { headers } = await signer.sign();
  return Object.fromEntries(headers);
}

function errorType({ __type: type }: Record<string, unknown>): string {
  return typeof type === 'string' && /^[\w.#]{1,100}$/.test(type) ? type : 'unknown error';
}
