import { createHash, createPublicKey, verify } from 'node:crypto';
import type { Event } from '../wire.ts';

export type VerifyEventProofOptions = {
  /** The event: the body of a webhook, or an event from the API. */
  event: string | Event;
  /** The `proof` returned by `GET /v1/events/{id}/proof`. */
  proof: string;
  /** The log's verifier key (`causeway/events/…+…+…`), saved from an earlier response. */
  key: string;
};

export type VerifiedEventProof = {
  /** The event's place in the log, starting at 1. */
  sequence: number;
  /** How many events the proof's checkpoint covers. A checkpoint is a signed state of the log. */
  size: number;
};

const HEADER = 'c2sp.org/tlog-proof@v1';
/** The DER prefix of an Ed25519 public key (RFC 8410); the 32 key bytes follow it. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * Verifies offline that a log contains an event. `key` is the log's verifier key. Returns the event's place in the log,
 * or null if the proof is not valid for the event.
 *
 * @example
 * ```ts no-run
 * import { readFile } from 'node:fs/promises';
 * import { verifyEventProof } from '@causeway/sdk/server';
 *
 * const event = await readFile('event.json', 'utf8');
 * const proof = await readFile('event.tlog-proof', 'utf8');
 * const verified = verifyEventProof({ event, proof, key: process.env.EVENT_LOG_KEY ?? '' });
 * console.log(verified === null ? 'not in the log' : `event ${verified.sequence} of ${verified.size}`);
 * ```
 */
export function verifyEventProof({ event, proof, key }: VerifyEventProofOptions): VerifiedEventProof | null {
  const [, index = '', hashes = '', note = ''] =
    new RegExp(
      `^${HEADER}\\n(?:extra .*\\n)?index (0|[1-9]\\d{0,14})\\n((?:[A-Za-z0-9+/]{43}=\\n)*)\\n([\\s\\S]+)$`,
    ).exec(proof) ?? [];
  const checkpoint = openCheckpoint(note, key);
  if (checkpoint === null) return null;
  const text = typeof event === 'string' ? event : JSON.stringify(event);
  const path = hashes.split('\n').filter((line) => line !== '');
  const root = rootOf(hash(0, Buffer.from(text)), Number(index), checkpoint.size, path);
  return root?.equals(checkpoint.root) ? { sequence: Number(index) + 1, size: checkpoint.size } : null;
}

/** Opens a checkpoint (C2SP signed-note). Returns null unless the key has signed it. */
function openCheckpoint(note: string, key: string): { size: number; root: Buffer } | null {
  const [, text = '', origin = '', size = '', root = '', lines = ''] =
    /^(([^\n]+)\n(\d{1,15})\n([A-Za-z0-9+/]{43}=)\n)\n((?:— \S+ \S+\n)+)$/.exec(note) ?? [];
  // A key's base64 part can contain `+` too, so only the first two `+` are separators.
  const [, name = '', encoded = ''] = /^([^+]+)\+[0-9a-f]{8}\+(.+)$/.exec(key) ?? [];
  const raw = Buffer.from(encoded, 'base64');
  if (origin === '' || name !== origin || raw.length !== 33 || raw[0] !== 1) return null;
  const publicKey = createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, raw.subarray(1)]),
    ...{ format: 'der', type: 'spki' },
  });
  const isSigned = [...lines.matchAll(/^— (\S+) (\S+)$/gm)].some(
    ([, signer, signature = '']) =>
      signer === origin &&
      verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64').subarray(4)),
  );
  return isSigned ? { size: Number(size), root: Buffer.from(root, 'base64') } : null;
}

/**
 * Recomputes the root of the log's Merkle tree from a leaf and the leaf's inclusion path (RFC 9162, section 2.1.3.2).
 * Returns null if the path has the wrong length.
 */
function rootOf(leaf: Buffer, index: number, size: number, path: readonly string[]): Buffer | null {
  if (index >= size) return null;
  let [at, last, root] = [index, size - 1, leaf];
  for (const line of path) {
    if (last === 0) return null;
    const sibling = Buffer.from(line, 'base64');
    if (at % 2 === 1 || at === last) {
      root = hash(1, sibling, root);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else root = hash(1, root, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 ? root : null;
}

function hash(prefix: 0 | 1, ...parts: readonly Buffer[]): Buffer {
  const sha = createHash('sha256').update(Buffer.from([prefix]));
  for (const part of parts) sha.update(part);
  return sha.digest();
}
