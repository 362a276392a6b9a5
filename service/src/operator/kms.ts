import type { Hex } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { bytesToHex, concat, hexToBytes, numberToHex, recoverAddress } from 'viem/utils';
import type { Clock } from '../clock.ts';
import { ApiError } from '../errors.ts';
import { type AwsCredentials, signAwsRequest } from './aws-signature.ts';
import { createSigner, type Signer } from './signer.ts';

export type KmsKey = {
  /** Key id, alias or ARN of an ECC_SECG_P256K1 key for SIGN_VERIFY. */
  keyId: string;
  region: string;
  /** Null = the public endpoint of the region. */
  endpoint: string | null;
  credentials: AwsCredentials;
};

const TIMEOUT = 5_000;
const ATTEMPTS = 3;
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
// SubjectPublicKeyInfo of an uncompressed secp256k1 point (RFC 5480 §2) up to the point itself.
const SPKI_PREFIX = Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex');

/** A key that never leaves AWS KMS. Asks for its public key, so it fails here and now when it cannot be used. */
export async function openKmsSigner(key: KmsKey, clock: Clock): Promise<Signer> {
  const { PublicKey: encoded } = await callKms(key, clock, 'GetPublicKey', { KeyId: key.keyId });
  const spki = Buffer.from(String(encoded), 'base64');
  if (spki.length !== SPKI_PREFIX.length + 65 || !spki.subarray(0, SPKI_PREFIX.length).equals(SPKI_PREFIX))
    throw new Error('The KMS key is not one on the curve secp256k1 (ECC_SECG_P256K1).');
  const address = publicKeyToAddress(bytesToHex(spki.subarray(SPKI_PREFIX.length)));
  return createSigner(address, async (hash) => {
    const { Signature: signature } = await callKms(key, clock, 'Sign', {
      KeyId: key.keyId,
      Message: Buffer.from(hexToBytes(hash)).toString('base64'),
      MessageType: 'DIGEST',
      SigningAlgorithm: 'ECDSA_SHA_256',
    });
    return toRecoverable(hash, address, Buffer.from(String(signature), 'base64'));
  });
}

/** KMS answers DER with either s and does not say which of the two points it was. */
async function toRecoverable(hash: Hex, address: Hex, der: Buffer): Promise<Hex> {
  const { r, s } = readDerSignature(der);
  const low = s > HALF_ORDER ? ORDER - s : s;
  const body = concat([numberToHex(r, { size: 32 }), numberToHex(low, { size: 32 })]);
  for (const v of ['0x1b', '0x1c'] as const) {
    const signature = concat([body, v]);
    if ((await recoverAddress({ hash, signature })).toLowerCase() === address.toLowerCase()) return signature;
  }
  throw upstreamError('the signature is not of this key');
}

/** ECDSA-Sig-Value (RFC 3279 §2.2.3) of numbers below 2^256, in DER and nothing else. */
export function readDerSignature(der: Buffer): { r: bigint; s: bigint } {
  const first = readInteger(der, 2);
  const second = readInteger(der, first.end);
  if (der[0] !== 0x30 || der[1] !== der.length - 2 || second.end !== der.length)
    throw upstreamError('the signature is not DER');
  return { r: first.value, s: second.value };
}

function readInteger(der: Buffer, at: number): { value: bigint; end: number } {
  const length = der[at + 1] ?? 0;
  const bytes = der.subarray(at + 2, at + 2 + length);
  const [head = 0, next = 0] = bytes;
  const isPadded = head === 0 && length > 1 && next < 0x80;
  if (der[at] !== 0x02 || length < 1 || length > 33 || bytes.length !== length || head >= 0x80 || isPadded)
    throw upstreamError('the signature is not DER');
  return { value: BigInt(bytesToHex(bytes)), end: at + 2 + length };
}

/** Both actions may be repeated: a second signature of the same hash does no harm. */
async function callKms(
  key: KmsKey,
  clock: Clock,
  action: string,
  input: Record<string, string>,
): Promise<Record<string, unknown>> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await tryKms(key, clock, action, JSON.stringify(input));
    if ('answer' in outcome) return outcome.answer;
    if (!outcome.retry || attempt === ATTEMPTS) throw outcome.error;
  }
}

type Outcome = { answer: Record<string, unknown> } | { error: Error; retry: boolean };

async function tryKms(key: KmsKey, clock: Clock, action: string, body: string): Promise<Outcome> {
  const url = new URL(key.endpoint ?? `https://kms.${key.region}.amazonaws.com/`);
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `TrentService.${action}` };
  const scope = { region: key.region, service: 'kms', now: clock.now() };
  const { host: _host, ...signed } = signAwsRequest({ url, headers, body }, key.credentials, scope);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: signed,
      body,
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const text = await response.text();
    if (response.ok) return { answer: JSON.parse(text) as Record<string, unknown> };
    const retry = response.status >= 500 || response.status === 429 || text.includes('ThrottlingException');
    return { error: upstreamError(`KMS answered ${response.status}: ${errorType(text)}`), retry };
  } catch (cause) {
    const error = new ApiError('upstream_unavailable', { upstream: 'kms' }, { cause });
    return { error, retry: true };
  }
}

function errorType(text: string): string {
  return /"__type"\s*:\s*"([\w.#]{1,100})"/.exec(text)?.[1] ?? 'no reason';
}

function upstreamError(message: string): ApiError {
  return new ApiError('upstream_error', { upstream: 'kms' }, { cause: new Error(message) });
}
