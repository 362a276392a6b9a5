import { REQUEST_TYPES, swapDomain } from '@causeway/contracts/encodings/tokenized-order.ts';
import fc from 'fast-check';
import { type Hex, parseTransaction, recoverTransactionAddress, recoverTypedDataAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { hexToBytes } from 'viem/utils';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeDer, type Kms, startKms } from '../../../test/support/kms.ts';
import { realClock } from '../../kernel/clock.ts';
import type { KmsKey } from '../../kernel/config/operator-key.ts';
import { createLog } from '../../kernel/log.ts';
import { openKmsSigner, readDerSignature } from './kms.ts';
import { buildReceiptMessage } from './receipt-message.ts';
import { localSigner, type Signer } from './signer.ts';
import { localSolanaSigner, openSolanaKey } from './solana-signer.ts';

const PRIVATE_KEY: Hex = `0x${'4c'.repeat(32)}`;
const account = privateKeyToAccount(PRIVATE_KEY);
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const ED25519_SEED = Buffer.alloc(32, 7);

const transaction = {
  chainId: 11155111,
  nonce: 7,
  to: '0x00000000000000000000000000000000000000aa',
  data: '0x1234',
  gas: 100_000n,
  maxFeePerGas: 3_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
} as const;

const typedData = {
  domain: swapDomain('Causeway', 1, transaction.to),
  types: REQUEST_TYPES,
  primaryType: 'VerifyRequest',
  message: {
    ...{ side: 0, inputToken: transaction.to, outputToken: transaction.to, sender: transaction.to },
    ...{ nonce: 1n, expiry: 2n, amount: 3n },
  },
} as const;

let kms: Kms;
let key: KmsKey;

beforeAll(async () => {
  kms = await startKms({ 'alias/operator': PRIVATE_KEY });
  key = kms.keyOf('alias/operator');
});
afterAll(() => kms.close());
beforeEach(() =>
  Object.assign(kms.state, { highS: false, failures: 0, ed25519: null, signsWrongHash: false, seen: [] }),
);

const openKms = (changes: object = {}) => openKmsSigner({ ...key, ...changes }, realClock());

const signers: [string, () => Promise<Signer>][] = [
  ['a local key', async () => localSigner(hexToBytes(PRIVATE_KEY))],
  ['a KMS key', () => openKms()],
  [
    'a KMS key that returns a high s',
    async () => {
      kms.state.highS = true;
      return openKms();
    },
  ],
];

describe.each(signers)('%s', (_name, open) => {
  test('signs the given transaction so that it recovers to its address', async () => {
    const signer = await open();
    const raw = await signer.signTransaction(transaction);
    expect(signer.address).toBe(account.address.toLowerCase());
    expect(parseTransaction(raw)).toMatchObject(transaction);
    expect(
      (await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toLowerCase(),
    ).toBe(signer.address);
    expect(raw).toBe(await account.signTransaction(transaction));
  });

  test('signs a request that recovers to its address', async () => {
    const signer = await open();
    const signature = await signer.signRequest(typedData.domain, typedData.message);
    expect((await recoverTypedDataAddress({ ...typedData, signature })).toLowerCase()).toBe(signer.address);
    expect(BigInt(`0x${signature.slice(66, 130)}`) <= ORDER / 2n).toBe(true);
  });
});

describe('the KMS key', () => {
  test('is retried after a KMS failure but not after a rejection', async () => {
    const signer = await openKms();
    kms.state.failures = 2;
    await expect(signer.signRequest(typedData.domain, typedData.message)).resolves.toMatch(
      /^0x[0-9a-f]{130}$/,
    );
    await expect(openKms({ keyId: 'alias/other' })).rejects.toMatchObject({ code: 'upstream_error' });
    expect(kms.state.seen.filter((action) => action.startsWith('GetPublicKey')).length).toBe(2);
  });

  test('does not open with wrong credentials, on another curve or if KMS is unreachable', async () => {
    const wrong = { ...key.credentials, secretAccessKey: 'another' };
    await expect(openKms({ credentials: wrong })).rejects.toMatchObject({ code: 'upstream_error' });
    kms.state.ed25519 = ED25519_SEED;
    await expect(openKms()).rejects.toThrow('secp256k1');
    await expect(openKms({ endpoint: 'http://127.0.0.1:9/' })).rejects.toMatchObject({
      code: 'upstream_unavailable',
    });
  });

  test('rejects a signature of another hash', async () => {
    const signer = await openKms();
    kms.state.signsWrongHash = true;
    await expect(signer.signRequest(typedData.domain, typedData.message)).rejects.toMatchObject({
      code: 'upstream_error',
    });
  });
});

describe('the Ed25519 KMS key', () => {
  const { address: operator } = localSolanaSigner(ED25519_SEED);
  const plan = {
    ...{
      kind: 'commit' as const,
      participationId: '01900000-0000-7000-8000-00000000000a',
      decimals: 6,
      amount: 5n,
    },
    ...{ fund: operator, mint: operator, wallet: operator, source: operator, destination: operator },
  } as const;
  const message = buildReceiptMessage(operator, plan, { rent: 1n, units: 1, price: 0n }, operator);
  const allow = () => undefined;
  const open = (changes: object = {}) => {
    kms.state.ed25519 = ED25519_SEED;
    return openSolanaKey({ kind: 'kms', key: { ...key, ...changes } }, realClock());
  };

  test('signs the same as the key itself', async () => {
    const signer = await open();
    const local = localSolanaSigner(ED25519_SEED);
    expect(signer.address).toBe(local.address);
    expect(await signer.signTransaction(message, allow)).toEqual(await local.signTransaction(message, allow));
  });

  test('is not asked to sign what the policy refuses', async () => {
    const signer = await open();
    const refuse = () => {
      throw new Error('refused');
    };
    await expect(signer.signTransaction(message, refuse)).rejects.toThrow('refused');
    expect(kms.state.seen.filter((action) => action.startsWith('Sign'))).toEqual([]);
  });

  test('is retried after a KMS failure, and a signature of another message is rejected', async () => {
    const signer = await open();
    kms.state.failures = 2;
    expect((await signer.signTransaction(message, allow)).length).toBe(1 + 64 + message.length);
    kms.state.signsWrongHash = true;
    await expect(signer.signTransaction(message, allow)).rejects.toMatchObject({ code: 'upstream_error' });
  });

  test('does not open with wrong credentials or on another curve', async () => {
    const wrong = { ...key.credentials, secretAccessKey: 'another' };
    await expect(open({ credentials: wrong })).rejects.toMatchObject({ code: 'upstream_error' });
    const opening = open();
    kms.state.ed25519 = null;
    await expect(opening).rejects.toThrow('Ed25519');
  });
});

test('reads DER signatures and rejects any other encoding', () => {
  const number = fc.bigInt({ min: 1n, max: ORDER - 1n });
  fc.assert(
    fc.property(number, number, (r, s) => {
      expect(readDerSignature(encodeDer(r, s))).toEqual({ r, s });
    }),
  );
  fc.assert(
    fc.property(number, number, fc.nat(71), fc.integer({ min: 1, max: 255 }), (r, s, at, change) => {
      const bytes = encodeDer(r, s);
      bytes[at % bytes.length] = ((bytes[at % bytes.length] ?? 0) + change) % 256;
      let read: { r: bigint; s: bigint } | undefined;
      try {
        read = readDerSignature(bytes);
      } catch {
        return;
      }
      expect(encodeDer(read.r, read.s).equals(bytes)).toBe(true);
    }),
  );
});

test('a logged signer shows its address but not its key', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', pretty: false, stream: { write: (line) => void lines.push(line) } });
  const signer = localSigner(hexToBytes(PRIVATE_KEY));
  log.info({ signer, config: { privateKey: Buffer.from(hexToBytes(PRIVATE_KEY)) } }, 'started');
  expect(lines.join('')).toContain(signer.address);
  expect(lines.join('')).not.toContain('4c4c4c');
});
