import { createPrivateKey, sign } from 'node:crypto';
import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import fc from 'fast-check';
import {
  hashMessage,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  verifyMessage,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { bytesToHex, hexToBytes } from 'viem/utils';
import { afterAll, describe, expect, test } from 'vitest';
import { isSignedByKey, signHash } from './evm/secp256k1.ts';
import { openChains } from './open-chains.ts';
import { createSignatures, type Signed } from './signatures.ts';
import { isSignedByEd25519 } from './solana/signed-message.ts';

// There is no RPC node, so a check that needs one would fail.
const chains = openChains({ urls: {} });
const signatures = createSignatures(chains);
const check = async (signed: Signed) => (await signatures.check(signed)) === 'key';
afterAll(() => chains.close());

const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const account = privateKeyToAccount(KEY);
const ADDRESS = account.address.toLowerCase();
const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');
/** No point on the curve has the x coordinate 5. */
const NO_POINT = Buffer.from([...Buffer.alloc(31), 5]);

const lines = (protocol: string, address: string, chain: string) =>
  [
    `app.example.com wants you to sign in with your ${protocol} account:`,
    address,
    '',
    'Prove that you own this wallet for offer option opt_1.',
    '',
    'URI: https://app.example.com/wallets',
    'Version: 1',
    `Chain ID: ${chain}`,
    'Nonce: abcdef0123456789',
    'Issued At: 2026-01-01T00:00:00.000Z',
    'Expiration Time: 2026-01-01T00:10:00.000Z',
    'Request ID: chl_1',
  ].join('\n');

const evm: Signed = {
  chain: 'ethereum_mainnet',
  address: ADDRESS,
  text: lines('Ethereum', account.address, '1'),
  signature:
    '0x7230ce5d5d4df09c07da812f93e04742fe7c8cdad083644c57dd5a8850daac4d0ffd90e971d01ec1f47e1b307806b658eb3aae9b7eea85f8d3b6ab9a0ac25d3c1b',
};
const SOLANA_ADDRESS = 'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9';
const solana: Signed = {
  chain: 'solana_mainnet',
  address: SOLANA_ADDRESS,
  text: lines('Solana', SOLANA_ADDRESS, 'mainnet'),
  signature: '4EbuFKWtpgZk9SThsEZmzU9VNW4zkTUKrm9fvPJtam9noVAEJTNCTurQSQYHRV2Wwyj992a2WN4iYb8Ra37t74yD',
};

/** Returns a copy with one bit flipped. */
function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  const at = Math.floor(bit / 8) % bytes.length;
  changed[at] = (changed[at] ?? 0) ^ (1 << (bit % 8));
  return changed;
}

describe('EOAs', () => {
  test('the published vector is valid', async () => {
    expect(await check(evm)).toBe(true);
  });

  test('any text signed by any key is valid, as in viem', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 300 }), async (text) => {
        const signer = privateKeyToAccount(generatePrivateKey());
        const signature = await signer.signMessage({ message: text });
        expect(await check({ ...evm, address: signer.address.toLowerCase(), text, signature })).toBe(true);
        expect(await verifyMessage({ address: signer.address, message: text, signature })).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  test('flipping one bit of text, signature or address makes it invalid', async () => {
    const signature = hexToBytes(evm.signature as `0x${string}`);
    const text = Buffer.from(evm.text);
    await fc.assert(
      fc.asyncProperty(fc.nat(100_000), async (bit) => {
        expect(await check({ ...evm, signature: bytesToHex(flip(signature, bit)) })).toBe(false);
        const address = bytesToHex(flip(hexToBytes(ADDRESS as `0x${string}`), bit));
        expect(await check({ ...evm, address })).toBe(false);
        expect(isSignedByKey(ADDRESS, flip(hashMessage(evm.text, 'bytes'), bit), signature)).toBe(false);
        // Never flips the top bit of a byte, so that the text stays valid ASCII.
        const changed = flip(text, bit - (bit % 8) + (bit % 7)).toString();
        expect(await check({ ...evm, text: Buffer.from(changed).toString() })).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['v of 0 and 1, as some hardware wallets return', (s: Uint8Array) => set(s, 64, (s[64] ?? 0) - 27), true],
    ['v of 29', (s: Uint8Array) => set(s, 64, 29), false],
    ['v of 37', (s: Uint8Array) => set(s, 64, 37), false],
    ['the malleable counterpart with high s', malleate, false],
    ['r of zero', (s: Uint8Array) => s.map((byte, at) => (at < 32 ? 0 : byte)), false],
    ['s of zero', (s: Uint8Array) => s.map((byte, at) => (at >= 32 && at < 64 ? 0 : byte)), false],
    [
      'r that is the x coordinate of no point',
      (s: Uint8Array) => Uint8Array.from([...NO_POINT, ...s.subarray(32)]),
      false,
    ],
    ['r above the order', (s: Uint8Array) => s.map((byte, at) => (at < 32 ? 255 : byte)), false],
    ['r equal to the order', (s: Uint8Array) => Uint8Array.from([...ORDER, ...s.subarray(32)]), false],
    ['64 bytes without the parity', (s: Uint8Array) => s.subarray(0, 64), true],
    ['64 bytes with the wrong parity', (s: Uint8Array) => flip(s.subarray(0, 64), 32 * 8 + 7), false],
    ['64 bytes with a high s', (s: Uint8Array) => malleate(s).subarray(0, 64), false],
    ['one byte', (s: Uint8Array) => s.subarray(0, 1), false],
    ['zeros', (s: Uint8Array) => s.map(() => 0), false],
  ] as const)('%s: %#', async (_name, change, expected) => {
    const changed = change(hexToBytes(evm.signature as `0x${string}`));
    expect(isSignedByKey(ADDRESS, hashMessage(evm.text, 'bytes'), changed)).toBe(expected);
  });

  test('thousands of impossible signatures leave the checks and the signing intact', () => {
    const valid = hexToBytes(evm.signature as `0x${string}`);
    const hash = hashMessage(evm.text, 'bytes');
    const withR = (r: Uint8Array) => Uint8Array.from([...r, ...valid.subarray(32)]);
    const impossible = [withR(Buffer.alloc(32, 255)), withR(ORDER), withR(Buffer.alloc(32)), withR(NO_POINT)];
    for (let n = 0; n < 5_000; n++)
      for (const signature of impossible) expect(isSignedByKey(ADDRESS, hash, signature)).toBe(false);
    expect(isSignedByKey(ADDRESS, hash, valid)).toBe(true);
    const key = generatePrivateKey();
    const signature = hexToBytes(signHash(key, bytesToHex(hash)));
    expect(isSignedByKey(privateKeyToAccount(key).address.toLowerCase(), hash, signature)).toBe(true);
  });

  test.each([
    '',
    'garbage',
    '0xzz',
    '0x123',
    evm.signature.slice(2),
    ` ${evm.signature}`,
    `${evm.signature}\n`,
  ])('malformed hexadecimal signatures are invalid: %j', async (signature) =>
    expect(await check({ ...evm, signature })).toBe(false),
  );

  test('an EIP-2098 compact signature of any key is valid', async () => {
    for (let n = 0; n < 20; n++) {
      const signer = privateKeyToAccount(generatePrivateKey());
      const compact = signatureToCompactSignature(
        parseSignature(await signer.signMessage({ message: evm.text })),
      );
      const signature = serializeCompactSignature(compact);
      expect(await check({ ...evm, address: signer.address.toLowerCase(), signature })).toBe(true);
    }
  });

  test('signHash returns the same signature as viem', async () => {
    const hash = hashMessage('permission');
    const signature = signHash(KEY, hash);
    expect(signature).toBe(await account.sign({ hash }));
  });

  test('a possible contract signature on a chain without an RPC node throws chain_not_supported', async () => {
    await expect(check({ ...evm, signature: `${evm.signature}00` })).rejects.toMatchObject({
      code: 'chain_not_supported',
    });
  });
});

function set(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[at] = value;
  return changed;
}

/** (r, n − s, other v): the other signature that verifies for the same key and message. */
function malleate(signature: Uint8Array): Uint8Array {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = order - BigInt(bytesToHex(signature.subarray(32, 64)));
  const high = hexToBytes(`0x${s.toString(16).padStart(64, '0')}`);
  return Uint8Array.from([...signature.subarray(0, 32), ...high, signature[64] === 27 ? 28 : 27]);
}

describe('solana keys', () => {
  test('the published vector is valid', async () => {
    expect(await check(solana)).toBe(true);
  });

  test('flipping one bit of text, signature or address makes it invalid', async () => {
    const signature = base58.decode(solana.signature);
    const key = base58.decode(SOLANA_ADDRESS);
    const text = Buffer.from(solana.text);
    await fc.assert(
      fc.asyncProperty(fc.nat(100_000), async (bit) => {
        expect(await isSignedByEd25519(key, text, flip(signature, bit))).toBe(false);
        expect(await isSignedByEd25519(flip(key, bit), text, signature)).toBe(false);
        expect(await isSignedByEd25519(key, flip(text, bit), signature)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  test('agrees with the strict mode of noble-curves', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ maxLength: 200 }),
        fc.boolean(),
        async (seed, text, spoil) => {
          const key = ed25519.getPublicKey(seed);
          const signature = ed25519.sign(text, seed);
          const used = spoil ? flip(signature, seed[0] ?? 0) : signature;
          expect(await isSignedByEd25519(key, text, used)).toBe(
            ed25519.verify(used, text, key, { zip215: false }),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test('small-order keys are rejected for every text and encoding', async () => {
    const keys = [
      ...ED25519_TORSION_SUBGROUP.map((hex) => Buffer.from(hex, 'hex')),
      // p and p + 1 are non-canonical encodings of 0 and 1.
      Buffer.from('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', 'hex'),
      Buffer.from('eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', 'hex'),
    ].flatMap((key) => [key, flip(key, 255)]);
    const identity = Buffer.alloc(64);
    identity[0] = 1;
    for (const key of keys) {
      for (let n = 0; n < 40; n++)
        expect(await isSignedByEd25519(key, Buffer.from(`text ${n}`), identity)).toBe(false);
    }
    for (let n = 0; n < 40; n++) {
      const forged = { ...solana, address: '11111111111111111111111111111111', text: `text ${n}` };
      expect(await check({ ...forged, signature: base58.encode(identity) })).toBe(false);
    }
  });

  test('signatures made by node:crypto are valid', async () => {
    const seed = Buffer.alloc(32, 7);
    const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
    const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
    const signature = base58.encode(sign(null, Buffer.from('text'), key));
    const address = base58.encode(ed25519.getPublicKey(seed));
    expect(await check({ ...solana, address, text: 'text', signature })).toBe(true);
  });

  test.each([
    '',
    '0',
    'l',
    solana.signature.slice(1),
    `1${solana.signature}`,
    solana.signature.toLowerCase(),
    '1'.repeat(16_000),
  ])('malformed base58 signatures are invalid: %#', async (signature) => {
    expect(await check({ ...solana, signature })).toBe(false);
  });
});
