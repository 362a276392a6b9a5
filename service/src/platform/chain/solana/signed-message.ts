import { createHash, verify } from 'node:crypto';
import { ED25519_SPKI_PREFIX } from '../../../kernel/ed25519-key.ts';
import { decodeBase58 } from '../address.ts';

/** No transaction can start with 0xff, so no off-chain message is also a transaction. */
const SIGNING_DOMAIN = Buffer.from('\xffsolana offchain', 'latin1');
const SIGNATURE_BYTES = 64;
const MAX_TEXT_BYTES = 0xffff;

/**
 * Most wallets sign the text itself; hardware wallets and the Solana CLI put an off-chain message header in front of
 * it.
 */
export async function isSignedMessage(address: string, text: string, signature: string): Promise<boolean> {
  const publicKey = decodeBase58(address, 32);
  if (publicKey === null) return false;
  for (const bytes of decodeSignature(signature))
    for (const message of [Buffer.from(text), ...offchainMessages(publicKey, text)])
      if (await isSignedByEd25519(publicKey, message, bytes)) return true;
  return false;
}

/**
 * In hexadecimal, base58, or base64 with or without padding. Unpadded base64 that starts with "1" can also be valid
 * base58; then returns both.
 */
function decodeSignature(signature: string): Uint8Array[] {
  const hex = signature.replace(/^0x/, '');
  if (hex.length === 2 * SIGNATURE_BYTES) return /^[0-9a-fA-F]+$/.test(hex) ? [Buffer.from(hex, 'hex')] : [];
  const isBase64 = /^[A-Za-z0-9+/_-]{86}(==)?$/.test(signature);
  return [
    decodeBase58(signature, SIGNATURE_BYTES),
    isBase64 ? Buffer.from(signature, 'base64') : null,
  ].filter((bytes) => bytes !== null);
}

/** There are several, because the request does not say which header, format or domain was signed. */
function* offchainMessages(publicKey: Uint8Array, text: string): Generator<Buffer> {
  const body = Buffer.from(text);
  yield Buffer.concat([SIGNING_DOMAIN, Buffer.from([1, 1]), publicKey, body]);
  if (body.length > MAX_TEXT_BYTES) return;
  const length = Buffer.alloc(2);
  length.writeUInt16LE(body.length);
  for (const format of [1, 0, 2]) {
    for (const domain of applicationDomains(text))
      yield Buffer.concat([
        ...[SIGNING_DOMAIN, Buffer.from([0]), domain],
        ...[Buffer.from([format, 1]), publicKey, length, body],
      ]);
    // The Solana CLI omits the domain and the signers.
    yield Buffer.concat([SIGNING_DOMAIN, Buffer.from([0, format]), length, body]);
  }
}

/** Wallets use zeros, the page's host padded with zeros, or the hash of the host. */
function applicationDomains(text: string): Buffer[] {
  const host = text.split(' ', 1)[0] ?? '';
  const padded = Buffer.alloc(32);
  padded.write(host);
  return [Buffer.alloc(32), padded, createHash('sha256').update(host).digest()];
}

const P = 2n ** 255n - 19n;

/** The y coordinates of the eight small-order points. Points that differ only in the sign of x share an entry. */
const SMALL_ORDER_Y = new Set([
  0n,
  1n,
  P - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

/**
 * OpenSSL alone accepts keys of small order, for which anyone can forge signatures of many messages. So the key and
 * the signature's point R must also be canonical and not of small order. Runs on the thread pool.
 */
export async function isSignedByEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  if (!isStrictPoint(publicKey) || !isStrictPoint(signature.subarray(0, 32))) return false;
  const key = { key: Buffer.concat([ED25519_SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' } as const;
  return new Promise((resolve) => {
    verify(null, message, key, signature, (error, isValid) => resolve(error === null && isValid));
  });
}

function isStrictPoint(encoded: Uint8Array): boolean {
  const bytes = Buffer.from(encoded).reverse();
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  const y = BigInt(`0x${bytes.toString('hex')}`);
  return y < P && !SMALL_ORDER_Y.has(y);
}
