import { createHash } from 'node:crypto';
import { decodeBase58 } from '../address.ts';
import { isSignedByEd25519 } from './ed25519.ts';

/**
 * The first bytes of every off-chain message. No transaction can start with 0xff, so no off-chain message is also a
 * transaction.
 */
const SIGNING_DOMAIN = Buffer.from('\xffsolana offchain', 'latin1');
const SIGNATURE_BYTES = 64;
const MAX_TEXT_BYTES = 0xffff;

/**
 * Returns whether the key of `address` signed `text`. Most wallets sign the text itself; hardware wallets and the
 * Solana CLI put an off-chain message header in front of it.
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
 * Decodes a signature in hexadecimal, in base58, or in base64 with or without padding. Unpadded base64 that starts with
 * "1" can also be valid base58. In that case, returns both results.
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

/**
 * Lists the off-chain messages that can carry the text. There are several, because the request does not say which
 * header, format or domain was signed.
 */
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

/**
 * Returns the 32-byte application domains that wallets use: zeros, the page's host padded with zeros, and the hash of
 * the host.
 */
function applicationDomains(text: string): Buffer[] {
  const host = text.split(' ', 1)[0] ?? '';
  const padded = Buffer.alloc(32);
  padded.write(host);
  return [Buffer.alloc(32), padded, createHash('sha256').update(host).digest()];
}
