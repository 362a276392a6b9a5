import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { Sealing } from '../sealing.ts';

/** Signs checkpoints. The keys derive from `CAUSEWAY_SECRET`, which is not in the database. */
export type CheckpointKeys = { origin: string; newest: SigningKey; all: SigningKey[] };
type SigningKey = { privateKey: KeyObject; publicKey: KeyObject; hint: Buffer };

export type Checkpoint = { size: bigint; chainHash: Buffer };

/** DER of an Ed25519 private key without its 32 bytes (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const ED25519 = 1;

export function createCheckpointKeys(sealing: Pick<Sealing, 'tags'>): CheckpointKeys {
  const origin = 'causeway/audit';
  const all = sealing.tags('audit checkpoint', 'ed25519').map((seed) => keyOf(origin, seed));
  const [newest] = all;
  if (newest === undefined) throw new Error('at least one secret is required');
  return { origin, newest, all };
}

function keyOf(origin: string, seed: Buffer): SigningKey {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const hint = createHash('sha256')
    .update(`${origin}\n`)
    .update(Buffer.from([ED25519]))
    .update(rawKey(publicKey))
    .digest();
  return { privateKey, publicKey, hint: hint.subarray(0, 4) };
}

/** Returns the key in the form that verifiers of signed notes take (C2SP signed-note). */
export function verifierKey({ origin, newest: { publicKey, hint } }: CheckpointKeys): string {
  const key = Buffer.concat([Buffer.from([ED25519]), rawKey(publicKey)]).toString('base64');
  return `${origin}+${hint.toString('hex')}+${key}`;
}

/** Returns a signed note about the first `size` entries. */
export function signCheckpoint({ origin, newest }: CheckpointKeys, { size, chainHash }: Checkpoint): string {
  const text = `${origin}\n${size}\n${chainHash.toString('base64')}\n`;
  const signature = Buffer.concat([newest.hint, sign(null, Buffer.from(text), newest.privateKey)]);
  return `${text}\n— ${origin} ${signature.toString('base64')}\n`;
}

/** Returns what a note says, or null if none of the keys signed it. */
export function openCheckpoint({ origin, all }: CheckpointKeys, note: string): Checkpoint | null {
  const [, text = '', size = '', hash = '', line = ''] =
    /^([^\n]+\n(\d{1,18})\n([A-Za-z0-9+/=]{44})\n)\n((?:— \S+ \S+\n)+)$/.exec(note) ?? [];
  const signatures = [...line.matchAll(/^— (\S+) (\S+)$/gm)].filter(([, name]) => name === origin);
  const isSigned = signatures.some(([, , encoded = '']) => {
    const bytes = Buffer.from(encoded, 'base64');
    const key = all.find(({ hint }) => hint.equals(bytes.subarray(0, 4)));
    return key !== undefined && verify(null, Buffer.from(text), key.publicKey, bytes.subarray(4));
  });
  if (!isSigned || !text.startsWith(`${origin}\n`)) return null;
  return { size: BigInt(size), chainHash: Buffer.from(hash, 'base64') };
}

function rawKey(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'der', type: 'spki' })).subarray(-32);
}
