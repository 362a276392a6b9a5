import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { isSignedMessage } from './signed-message.ts';

const SEED = new Uint8Array(32).fill(1);
const KEY = ed25519.getPublicKey(SEED);
const ADDRESS = base58.encode(KEY);
const TEXT = `app.example.com wants you to sign in with your Solana account:\n${ADDRESS}\n\nÜber`;

const sign = (message: Uint8Array) => ed25519.sign(message, SEED);
const isValid = (signature: string, address = ADDRESS, text = TEXT) =>
  isSignedMessage(address, text, signature);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const PREFIX = Buffer.from('\xffsolana offchain', 'latin1');
const text = Buffer.from(TEXT);
const length = (bytes: Buffer) => Buffer.from([bytes.length & 255, bytes.length >> 8]);
const specified = (domain: Buffer, format: number, body = text, signer: Uint8Array = KEY) =>
  Buffer.concat([PREFIX, Buffer.from([0]), domain, Buffer.from([format, 1]), signer, length(body), body]);
const legacy = (format: number) => Buffer.concat([PREFIX, Buffer.from([0, format]), length(text), text]);
const padded = Buffer.alloc(32);
padded.write('app.example.com');

describe('encodings of a signature', () => {
  const signature = sign(text);
  test.each([
    ['base58', base58.encode(signature)],
    ['base64', Buffer.from(signature).toString('base64')],
    ['base64 without padding', Buffer.from(signature).toString('base64').replace(/=+$/, '')],
    ['base64url', Buffer.from(signature).toString('base64url')],
    ['hexadecimal', hex(signature)],
    ['hexadecimal in upper case', hex(signature).toUpperCase()],
    ['hexadecimal with 0x', `0x${hex(signature)}`],
  ])('%s is accepted', async (_name, encoded) => expect(await isValid(encoded)).toBe(true));

  test('unpadded base64 that is also base58 is accepted', async () => {
    const ambiguous = 'text 42826';
    const encoded = Buffer.from(sign(Buffer.from(ambiguous))).toString('base64url');
    expect(base58.decode(encoded)).toHaveLength(64);
    expect(await isValid(encoded, ADDRESS, ambiguous)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['63 bytes in hexadecimal', hex(signature).slice(2)],
    ['65 bytes in base64', Buffer.from([...signature, 0]).toString('base64')],
    ['another text', base58.encode(sign(Buffer.from('other')))],
    ['a long text', 'A'.repeat(16_000)],
    ['white space', ` ${base58.encode(signature)}`],
  ])('%s is refused', async (_name, encoded) => expect(await isValid(encoded)).toBe(false));
});

describe('off-chain messages', () => {
  test.each([
    ['version 0 with an empty domain', specified(Buffer.alloc(32), 1)],
    ['version 0 in the extended format', specified(Buffer.alloc(32), 2)],
    ['version 0 in the ASCII format', specified(Buffer.alloc(32), 0)],
    ['version 0 with the host as domain', specified(padded, 1)],
    [
      'version 0 with the hashed host as domain',
      specified(createHash('sha256').update('app.example.com').digest(), 1),
    ],
    ["version 0 as Solana's command line writes it", legacy(1)],
    ['version 1', Buffer.concat([PREFIX, Buffer.from([1, 1]), KEY, text])],
  ])('%s is accepted', async (_name, message) =>
    expect(await isValid(base58.encode(sign(message)))).toBe(true),
  );

  test.each([
    ['another text', specified(Buffer.alloc(32), 1, Buffer.from('other'))],
    ['another signer in the header', specified(Buffer.alloc(32), 1, text, new Uint8Array(32).fill(3))],
    ['an unknown format', specified(Buffer.alloc(32), 3)],
    ['a domain of another site', specified(Buffer.alloc(32, 7), 1)],
  ])('%s is refused', async (_name, message) =>
    expect(await isValid(base58.encode(sign(message)))).toBe(false),
  );
});

test('small-order keys stay refused with every header', async () => {
  const identity = Buffer.alloc(64);
  identity[0] = 1;
  for (let n = 0; n < 40; n++)
    expect(await isValid(identity.toString('hex'), '1'.repeat(32), `text ${n}`)).toBe(false);
});
