import { createHash, type KeyObject, sign, verify } from 'node:crypto';
import { ed25519Key, ed25519PublicKey } from '../../kernel/ed25519-key.ts';
import type { Sealing } from '../../kernel/sealing.ts';
import { AuditProblem } from './tree.ts';

/** The state of the log after its first `size` entries. `hash` is the root of the Merkle tree over these entries. */
export type Checkpoint = { size: number; hash: Buffer };
/** A checkpoint as a signed note. `size` is repeated from the note. */
export type StoredCheckpoint = { size: number; note: string };

type SigningKey = { publicKey: Buffer; privateKey: KeyObject };
/** `end` is the state of the log when the secret was replaced. The key verifies no checkpoints of more entries. */
export type FormerKey = { publicKey: Buffer; end: Checkpoint };

/** The keys of checkpoints. They derive from `CAUSEWAY_SECRET`, which is not in the database. */
export type CheckpointKeys = {
  newest: SigningKey;
  older: SigningKey[];
  former: FormerKey[];
};

export function createCheckpointKeys(
  sealing: Pick<Sealing, 'tags'>,
  former: FormerKey[] = [],
): CheckpointKeys {
  const [newest, ...older] = sealing.tags('audit checkpoint', 'ed25519').map((seed) => ed25519Key(seed));
  if (newest === undefined) throw new Error('at least one secret is required');
  return { newest, older, former };
}

const ED25519 = 1;

/**
 * The name of the log in a signed note: the URL that it is served under, without its scheme (C2SP tlog-checkpoint).
 */
export function originAt(baseUrl: string): string {
  const { host, pathname } = new URL(baseUrl);
  return `${host}${pathname.replace(/\/$/, '')}/audit`;
}

export function originOf(note: string): string {
  return note.slice(0, note.indexOf('\n'));
}

/** Returns the first bytes of a signature, which identify its key (C2SP signed-note). */
function hintOf(origin: string, publicKey: Buffer): Buffer {
  const bytes = Buffer.concat([Buffer.from(`${origin}\n`), Buffer.from([ED25519]), publicKey]);
  return createHash('sha256').update(bytes).digest().subarray(0, 4);
}

/** Returns the newest public key in the form that verifiers of signed notes expect (C2SP signed-note). */
export function verifierKey({ newest: { publicKey } }: CheckpointKeys, origin: string): string {
  const key = Buffer.concat([Buffer.from([ED25519]), publicKey]).toString('base64');
  return `${origin}+${hintOf(origin, publicKey).toString('hex')}+${key}`;
}

/**
 * Signed with the key of every configured secret, so that verifiers that know only the older key can still verify the
 * note during a rotation.
 */
export function signCheckpoint(
  { newest, older }: CheckpointKeys,
  origin: string,
  { size, hash }: Checkpoint,
): string {
  const text = `${origin}\n${size}\n${hash.toString('base64')}\n`;
  const lines = [newest, ...older].map(({ publicKey, privateKey }) => {
    const signature = Buffer.concat([hintOf(origin, publicKey), sign(null, Buffer.from(text), privateKey)]);
    return `— ${origin} ${signature.toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

const NOTE = /^(([^\n]+)\n(\d{1,15})\n([A-Za-z0-9+/=]{44})\n)\n((?:— \S+ \S+\n)+)$/;

export function isCheckpoint(text: string): boolean {
  return NOTE.test(text);
}

/** Null if none of the keys signed the note. Accepts any origin, because the base URL may have changed since. */
export function openCheckpoint({ newest, older, former }: CheckpointKeys, note: string): Checkpoint | null {
  const [, text = '', origin = '', digits = '', hash = '', lines = ''] = NOTE.exec(note) ?? [];
  const size = Number(digits);
  const allowed = [newest, ...older, ...former.filter(({ end }) => size <= end.size)];
  const isSigned = [...lines.matchAll(/^— (\S+) (\S+)$/gm)].some(([, name, encoded = '']) => {
    const bytes = Buffer.from(encoded, 'base64');
    return allowed.some(
      ({ publicKey }) =>
        name === origin &&
        hintOf(origin, publicKey).equals(bytes.subarray(0, 4)) &&
        verify(null, Buffer.from(text), ed25519PublicKey(publicKey), bytes.subarray(4)),
    );
  });
  return isSigned ? { size, hash: Buffer.from(hash, 'base64') } : null;
}

/** Throws if none of the keys signed the note. */
export function openStored(keys: CheckpointKeys, { size, note }: StoredCheckpoint): Checkpoint {
  const checkpoint = openCheckpoint(keys, note);
  if (checkpoint?.size !== size)
    throw new AuditProblem(`the checkpoint of ${size} entries is not signed by this installation`);
  return checkpoint;
}
