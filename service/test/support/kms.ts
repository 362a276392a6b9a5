import { createHash, createHmac, createPublicKey, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as secp256k1 from 'tiny-secp256k1';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { bytesToHex, hexToBytes, toHex } from 'viem/utils';
import type { KmsKey } from '../../src/kernel/config/operator-key.ts';
import { ed25519Key } from '../../src/kernel/ed25519-key.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'the secret', sessionToken: 'session' };

/** How the simulated KMS behaves. `seen` lists the actions with their keys, such as `Sign alias/operator`. */
type KmsState = {
  highS: boolean;
  failures: number;
  signsWrongHash: boolean;
  /** If set, every key id stands for the Ed25519 key with this seed. */
  ed25519: Buffer | null;
  seen: string[];
};

export type Kms = { state: KmsState; keyOf(keyId: string): KmsKey; close(): Promise<void> };

/**
 * Starts a simulated KMS with the actions that the signer uses. `keys` maps key ids to private keys. Verifies
 * AWS Signature Version 4.
 */
export async function startKms(keys: Readonly<Record<string, Hex>>): Promise<Kms> {
  const state: KmsState = { highS: false, failures: 0, signsWrongHash: false, ed25519: null, seen: [] };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const action = String(request.headers['x-amz-target']).replace('TrentService.', '');
      const input = JSON.parse(body);
      state.seen.push(`${action} ${input.KeyId}`);
      const reject = (status: number, type: string) =>
        response.writeHead(status).end(JSON.stringify({ __type: type }));
      if (state.failures > 0) {
        state.failures--;
        return reject(500, 'KMSInternalException');
      }
      if (!isAuthorized(request.headers as Record<string, string>, body))
        return reject(400, 'IncompleteSignature');
      const privateKey = keys[input.KeyId];
      if (privateKey === undefined) return reject(400, 'NotFoundException');
      const answer =
        action === 'GetPublicKey' ? publicKeyOf(state, privateKey) : signFor(state, privateKey, input);
      return answer === null ? reject(400, 'ValidationException') : response.end(JSON.stringify(answer));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    state,
    keyOf: (keyId) => ({ keyId, region: 'eu-central-1', endpoint, credentials }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function publicKeyOf({ ed25519 }: KmsState, privateKey: Hex) {
  const spki =
    ed25519 === null
      ? Buffer.concat([
          Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex'),
          hexToBytes(privateKeyToAccount(privateKey).publicKey),
        ])
      : createPublicKey(ed25519Key(ed25519).privateKey).export({ format: 'der', type: 'spki' });
  return { PublicKey: spki.toString('base64') };
}

type SignInput = { Message: string; MessageType: string; SigningAlgorithm: string };

function signFor({ ed25519, highS, signsWrongHash }: KmsState, privateKey: Hex, input: SignInput) {
  const expected = ed25519 === null ? 'DIGEST ECDSA_SHA_256' : 'RAW ED25519_SHA_512';
  if (`${input.MessageType} ${input.SigningAlgorithm}` !== expected) return null;
  const message = Buffer.from(input.Message, 'base64');
  const signed = signsWrongHash ? createHash('sha256').update(message).digest() : message;
  const signature =
    ed25519 === null
      ? signDer(signed, privateKey, highS)
      : sign(null, signed, ed25519Key(ed25519).privateKey);
  return { Signature: signature.toString('base64') };
}

/** Returns whether a request has a valid AWS Signature Version 4, made with the simulated credentials. */
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

function signDer(hash: Uint8Array, privateKey: Hex, highS: boolean): Buffer {
  const compact = secp256k1.sign(hash, hexToBytes(privateKey));
  const r = BigInt(bytesToHex(compact.subarray(0, 32)));
  const s = BigInt(bytesToHex(compact.subarray(32)));
  return encodeDer(r, highS ? ORDER - s : s);
}

/** Encodes an ECDSA signature as KMS does. */
export function encodeDer(r: bigint, s: bigint): Buffer {
  const integer = (value: bigint) => {
    const bytes = Buffer.from(hexToBytes(toHex(value)));
    const padded = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
    return Buffer.concat([Buffer.from([2, padded.length]), padded]);
  };
  const body = Buffer.concat([integer(r), integer(s)]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}
