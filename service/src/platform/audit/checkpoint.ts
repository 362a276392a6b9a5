import { createHash, type KeyObject, sign, verify } from 'node:crypto';
import { ed25519Key, ed25519PublicKey } from '../../kernel/ed25519-key.ts';
import type { Sealing } from '../../kernel/sealing.ts';

/** The keys that sign and verify checkpoints. They derive from `CAUSEWAY_SECRET`, which is not in the database. */
export type CheckpointKeys = {
  origin: string;
  newest: SigningKey;
  /** The keys of all configured secrets, newest first. */
  listed: SigningKey[];
  all: VerificationKey[];
};
type VerificationKey = {
  publicKey: KeyObject;
  hint: Buffer;
  /**
   * The state of the log when the key's secret was replaced (see `keepCheckpointKeys`), or null for a key in `listed`.
   * The key does not verify checkpoints that cover more entries than the log had then.
   */
  end: Checkpoint | null;
};
type SigningKey = VerificationKey & { privateKey: KeyObject };

/** The public key of a replaced secret, and the size and chain hash of the log when the secret was replaced. */
export type FormerKey = { publicKey: Buffer; end: Checkpoint };

/**
 * The state of the log after its first `size` entries. `hash` is the root of the Merkle tree over these entries, with
 * three exceptions that use the chain hash: the start of the log, the `end` of a key, and checkpoints signed by
 * versions before 0.2.
 */
export type Checkpoint = { size: bigint; hash: Buffer };

const ED25519 = 1;

/**
 * The origin (the name of the log in a signed note) of checkpoints with a chain hash, which only versions before 0.2
 * sign. Tree checkpoints need another origin. Otherwise, verifiers would find two notes with the same origin and size
 * but different hashes, and conclude that the log was forked.
 */
const CHAIN_ORIGIN = 'causeway/audit';

/**
 * Returns the origin of the tree's checkpoints: the URL that they are served under, without its scheme (C2SP
 * tlog-checkpoint).
 */
export function treeOrigin(baseUrl: string): string {
  const { host, pathname, protocol } = new URL(baseUrl);
  const origin = `${host}${pathname.replace(/\/$/, '')}/audit`;
  return origin === CHAIN_ORIGIN ? `${host}:${protocol === 'https:' ? 443 : 80}/audit` : origin;
}

export function originOf(note: string): string {
  return note.slice(0, note.indexOf('\n'));
}

/** Returns whether the checkpoint in the note contains the root of the tree instead of the chain hash. */
export function isTreeCheckpoint(note: string): boolean {
  return originOf(note) !== CHAIN_ORIGIN;
}

/** `origin` identifies the log in its signed notes. */
export function createCheckpointKeys(
  sealing: Pick<Sealing, 'tags'>,
  formerKeys: readonly FormerKey[] = [],
  origin = CHAIN_ORIGIN,
): CheckpointKeys {
  const listed = sealing.tags('audit checkpoint', 'ed25519').map((seed) => signingKey(origin, seed));
  const [newest] = listed;
  if (newest === undefined) throw new Error('at least one secret is required');
  const former = formerKeys.map(({ publicKey, end }) => ({
    ...verificationKey(origin, ed25519PublicKey(publicKey)),
    end,
  }));
  return { origin, newest, listed, all: [...listed, ...former] };
}

/** Returns the same keys for notes with another origin. */
export function withOrigin({ listed, all }: CheckpointKeys, origin: string): CheckpointKeys {
  const move = <T extends VerificationKey>(key: T): T => ({ ...key, hint: hintOf(origin, key.publicKey) });
  const moved = listed.map(move);
  return {
    origin,
    newest: moved[0] as SigningKey,
    listed: moved,
    all: [...moved, ...all.slice(listed.length).map(move)],
  };
}

function signingKey(origin: string, seed: Buffer): SigningKey {
  const { privateKey, publicKey } = ed25519Key(seed);
  return { privateKey, ...verificationKey(origin, ed25519PublicKey(publicKey)) };
}

function verificationKey(origin: string, publicKey: KeyObject): VerificationKey {
  return { publicKey, hint: hintOf(origin, publicKey), end: null };
}

function hintOf(origin: string, publicKey: KeyObject): Buffer {
  const bytes = [Buffer.from(`${origin}\n`), Buffer.from([ED25519]), rawKey(publicKey)];
  return createHash('sha256').update(Buffer.concat(bytes)).digest().subarray(0, 4);
}

/** Returns the newest public key in the form that verifiers of signed notes expect (C2SP signed-note). */
export function verifierKey({ origin, newest: { publicKey, hint } }: CheckpointKeys): string {
  const key = Buffer.concat([Buffer.from([ED25519]), rawKey(publicKey)]).toString('base64');
  return `${origin}+${hint.toString('hex')}+${key}`;
}

/**
 * Returns a note about the first `size` entries, signed with the key of every configured secret. This way, verifiers
 * that know only the older key can still verify the note during a rotation.
 */
export function signCheckpoint({ origin, listed }: CheckpointKeys, { size, hash }: Checkpoint): string {
  const text = `${origin}\n${size}\n${hash.toString('base64')}\n`;
  const lines = listed.map(({ hint, privateKey }) => {
    const signature = Buffer.concat([hint, sign(null, Buffer.from(text), privateKey)]);
    return `— ${origin} ${signature.toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

const NOTE = /^([^\n]+\n(\d{1,18})\n([A-Za-z0-9+/=]{44})\n)\n((?:— \S+ \S+\n)+)$/;

/** Returns whether the text has the format of a checkpoint. Does not verify its signatures. */
export function isCheckpoint(text: string): boolean {
  return NOTE.test(text);
}

/** Returns the checkpoint in a note, or null if none of the keys signed the note. */
export function openCheckpoint({ origin, all }: CheckpointKeys, note: string): Checkpoint | null {
  const [, text = '', size = '', hash = '', line = ''] = NOTE.exec(note) ?? [];
  const signatures = [...line.matchAll(/^— (\S+) (\S+)$/gm)].filter(([, name]) => name === origin);
  const isSigned = signatures.some(([, , encoded = '']) => {
    const bytes = Buffer.from(encoded, 'base64');
    const key = all.find(({ hint }) => hint.equals(bytes.subarray(0, 4)));
    if (key === undefined || (key.end !== null && BigInt(size) > key.end.size)) return false;
    return verify(null, Buffer.from(text), key.publicKey, bytes.subarray(4));
  });
  if (!isSigned || !text.startsWith(`${origin}\n`)) return null;
  return { size: BigInt(size), hash: Buffer.from(hash, 'base64') };
}

/**
 * Returns the tree checkpoint in a note, or null if none of the keys signed the note. Takes the origin from the note,
 * because the base URL may have changed since the note was signed.
 */
export function openTreeCheckpoint(keys: CheckpointKeys, note: string): Checkpoint | null {
  const origin = originOf(note);
  return origin.endsWith('/audit') ? openCheckpoint(withOrigin(keys, origin), note) : null;
}

/** Returns the 32 bytes of a public key. */
export function rawKey(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'der', type: 'spki' })).subarray(-32);
}
