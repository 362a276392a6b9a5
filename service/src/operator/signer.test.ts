import { createHash, createHmac, createPublicKey, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { REQUEST_TYPES, swapDomain } from '@causeway/contracts/encodings/tokenized-order.ts';
import fc from 'fast-check';
import * as secp256k1 from 'tiny-secp256k1';
import { type Hex, parseTransaction, recoverTransactionAddress, recoverTypedDataAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { bytesToHex, hexToBytes, toHex } from 'viem/utils';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { realClock } from '../clock.ts';
import { ed25519Key } from '../ed25519-key.ts';
import { createLog } from '../log.ts';
import { signAwsRequest } from './aws-signature.ts';
import { openKmsSigner, readDerSignature } from './kms.ts';
import { localSigner, type Signer } from './signer.ts';
import { localSolanaSigner, openSolanaSigner } from './solana-signer.ts';

const PRIVATE_KEY: Hex = `0x${'4c'.repeat(32)}`;
const account = privateKeyToAccount(PRIVATE_KEY);
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const ED25519_SEED = Buffer.alloc(32, 7);
const { privateKey: ED25519_KEY } = ed25519Key(ED25519_SEED);
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'the secret', sessionToken: 'session' };

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

/** Implements the KMS operations that the signer uses and verifies the AWS Signature Version 4. */
function startKms() {
  const state = {
    highS: false,
    failures: 0,
    curve: 'secp256k1',
    signsWrongHash: false,
    seen: [] as string[],
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const action = String(request.headers['x-amz-target']);
      state.seen.push(action);
      const reject = (status: number, type: string) =>
        response.writeHead(status).end(JSON.stringify({ __type: type }));
      if (state.failures > 0) {
        state.failures--;
        return reject(500, 'KMSInternalException');
      }
      if (!isAuthorized(request.headers as Record<string, string>, body))
        return reject(400, 'IncompleteSignature');
      const input = JSON.parse(body);
      if (input.KeyId !== 'alias/operator') return reject(400, 'NotFoundException');
      if (action === 'TrentService.GetPublicKey')
        return response.end(JSON.stringify({ PublicKey: spki(state.curve).toString('base64') }));
      if (state.curve === 'ed25519') {
        if (input.MessageType !== 'RAW' || input.SigningAlgorithm !== 'ED25519_SHA_512')
          return reject(400, 'ValidationException');
        const text = Buffer.from(state.signsWrongHash ? 'something else' : input.Message, 'base64');
        return response.end(JSON.stringify({ Signature: sign(null, text, ED25519_KEY).toString('base64') }));
      }
      if (input.MessageType !== 'DIGEST' || input.SigningAlgorithm !== 'ECDSA_SHA_256')
        return reject(400, 'ValidationException');
      const digest = Buffer.from(input.Message, 'base64');
      const hash = state.signsWrongHash ? createHash('sha256').update(digest).digest() : digest;
      return response.end(JSON.stringify({ Signature: der(hash, state.highS).toString('base64') }));
    });
  });
  return { server, state };
}

function isAuthorized(headers: Record<string, string>, body: string): boolean {
  const match =
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/eu-central-1\/kms\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (match === null) return false;
  const [, date = '', names = '', signature] = match;
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const lines = names.split(';').map((name) => `${name}:${headers[name]}\n`);
  const canonical = `POST\n/\n\n${lines.join('')}\n${names}\n${hash(body)}`;
  const text = `AWS4-HMAC-SHA256\n${headers['x-amz-date']}\n${date}/eu-central-1/kms/aws4_request\n${hash(canonical)}`;
  let key: Buffer | string = `AWS4${credentials.secretAccessKey}`;
  for (const part of [date, 'eu-central-1', 'kms', 'aws4_request'])
    key = createHmac('sha256', key).update(part).digest();
  return createHmac('sha256', key).update(text).digest('hex') === signature;
}

function spki(curve: string): Buffer {
  if (curve !== 'secp256k1') return createPublicKey(ED25519_KEY).export({ format: 'der', type: 'spki' });
  return Buffer.concat([
    Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex'),
    hexToBytes(account.publicKey),
  ]);
}

function der(hash: Uint8Array, highS: boolean): Buffer {
  const compact = secp256k1.sign(hash, hexToBytes(PRIVATE_KEY));
  const r = BigInt(bytesToHex(compact.subarray(0, 32)));
  const s = BigInt(bytesToHex(compact.subarray(32)));
  return encodeDer(r, highS ? ORDER - s : s);
}

function encodeDer(r: bigint, s: bigint): Buffer {
  const integer = (value: bigint) => {
    const bytes = Buffer.from(hexToBytes(toHex(value)));
    const padded = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
    return Buffer.concat([Buffer.from([2, padded.length]), padded]);
  };
  const body = Buffer.concat([integer(r), integer(s)]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}

let server: Server;
let kms: ReturnType<typeof startKms>['state'];
let endpoint: string;

beforeAll(async () => {
  const started = startKms();
  server = started.server;
  kms = started.state;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => void server.close());
beforeEach(() =>
  Object.assign(kms, { highS: false, failures: 0, curve: 'secp256k1', signsWrongHash: false, seen: [] }),
);

const openKms = (changes: object = {}) =>
  openKmsSigner(
    { keyId: 'alias/operator', region: 'eu-central-1', endpoint, credentials, ...changes },
    realClock(),
  );

const signers: [string, () => Promise<Signer>][] = [
  ['a local key', async () => localSigner(hexToBytes(PRIVATE_KEY))],
  ['a KMS key', () => openKms()],
  [
    'a KMS key that returns a high s',
    async () => {
      kms.highS = true;
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
    kms.failures = 2;
    await expect(signer.signRequest(typedData.domain, typedData.message)).resolves.toMatch(
      /^0x[0-9a-f]{130}$/,
    );
    await expect(openKms({ keyId: 'alias/other' })).rejects.toMatchObject({ code: 'upstream_error' });
    expect(kms.seen.filter((action) => action.endsWith('GetPublicKey')).length).toBe(2);
  });

  test('does not open with wrong credentials, on another curve or if KMS is unreachable', async () => {
    const wrong = { ...credentials, secretAccessKey: 'another' };
    await expect(openKms({ credentials: wrong })).rejects.toMatchObject({ code: 'upstream_error' });
    kms.curve = 'ed25519';
    await expect(openKms()).rejects.toThrow('secp256k1');
    await expect(openKms({ endpoint: 'http://127.0.0.1:9/' })).rejects.toMatchObject({
      code: 'upstream_unavailable',
    });
  });

  test('rejects a signature of another hash', async () => {
    const signer = await openKms();
    kms.signsWrongHash = true;
    await expect(signer.signRequest(typedData.domain, typedData.message)).rejects.toMatchObject({
      code: 'upstream_error',
    });
  });
});

describe('the Ed25519 KMS key', () => {
  const message = Buffer.from('the message of a transaction');
  const allow = () => undefined;
  const open = (changes: object = {}) => {
    kms.curve = 'ed25519';
    const key = { keyId: 'alias/operator', region: 'eu-central-1', endpoint, credentials, ...changes };
    return openSolanaSigner({ kind: 'kms', key }, realClock());
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
    expect(kms.seen.filter((action) => action.endsWith('Sign'))).toEqual([]);
  });

  test('is retried after a KMS failure, and a signature of another message is rejected', async () => {
    const signer = await open();
    kms.failures = 2;
    expect((await signer.signTransaction(message, allow)).length).toBe(1 + 64 + message.length);
    kms.signsWrongHash = true;
    await expect(signer.signTransaction(message, allow)).rejects.toMatchObject({ code: 'upstream_error' });
  });

  test('does not open with wrong credentials or on another curve', async () => {
    const wrong = { ...credentials, secretAccessKey: 'another' };
    await expect(open({ credentials: wrong })).rejects.toMatchObject({ code: 'upstream_error' });
    const opening = open();
    kms.curve = 'secp256k1';
    await expect(opening).rejects.toThrow('Ed25519');
  });
});

test('the AWS signature covers date, headers and body', () => {
  const signed = signAwsRequest(
    {
      url: new URL('https://kms.eu-central-1.amazonaws.com/'),
      headers: { 'x-amz-target': 'A.b' },
      body: '{}',
    },
    { ...credentials, sessionToken: null },
    { region: 'eu-central-1', service: 'kms', now: Date.parse('2015-08-30T12:36:00Z') },
  );
  expect(signed['x-amz-date']).toBe('20150830T123600Z');
  expect(isAuthorized(signed, '{}')).toBe(true);
  expect(isAuthorized(signed, '{ }')).toBe(false);
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
