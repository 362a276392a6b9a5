import { base58 } from '@scure/base';
import { invalidParams } from '../rpc-error.ts';

export type Commitment = 'processed' | 'confirmed' | 'finalized';
export type Config = Readonly<Record<string, unknown>>;

const COMMITMENTS = ['processed', 'confirmed', 'finalized'];

export function readConfig(value: unknown): Config {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidParams('Invalid params: invalid type');
  return value as Config;
}

/** Reads the commitment level. Default: `finalized`, as on real nodes. */
export function readCommitment({ commitment }: Config, name = 'commitment'): Commitment {
  if (commitment === undefined || commitment === null) return 'finalized';
  if (!COMMITMENTS.includes(String(commitment)))
    throw invalidParams(
      `Invalid params: unknown variant \`${commitment}\` for ${name}, expected one of ${COMMITMENTS.join(', ')}.`,
    );
  return commitment as Commitment;
}

/**
 * Reads the commitment level for a method that returns past blocks. Throws for `processed`: these methods see only
 * confirmed blocks.
 */
export function readHistoryCommitment(config: Config): Exclude<Commitment, 'processed'> {
  const commitment = readCommitment(config);
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`');
  return commitment;
}

export function readKey(value: unknown): Uint8Array {
  const bytes = decodeBase58(value);
  if (bytes?.length !== 32)
    throw invalidParams(bytes ? 'Invalid param: WrongSize' : 'Invalid param: Invalid');
  return bytes;
}

/** Reads a signature and returns its canonical text. */
export function readSignature(value: unknown): string {
  const bytes = decodeBase58(value);
  if (bytes?.length !== 64)
    throw invalidParams(bytes ? 'Invalid param: WrongSize' : 'Invalid param: Invalid');
  return base58.encode(bytes);
}

/** Reads a list of at most `max` entries. */
export function readList(value: unknown, max: number): unknown[] {
  if (!Array.isArray(value)) throw invalidParams('Invalid params: invalid type: expected a sequence.');
  if (value.length > max) throw invalidParams(`Too many inputs provided; max ${max}`);
  return value;
}

export function readInteger(value: unknown, name: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw invalidParams(`Invalid params: ${name} must be a u64`);
  return value as number;
}

export function readOptionalInteger(value: unknown, name: string): number | undefined {
  return value === undefined || value === null ? undefined : readInteger(value, name);
}

/** Decodes text in the given encoding. Default: base58. */
export function decodeText(value: unknown, encoding: unknown): Buffer {
  if (typeof value !== 'string') throw invalidParams('Invalid params: invalid type: expected a string.');
  if (encoding === 'base64') {
    const bytes = Buffer.from(value, 'base64');
    if (bytes.toString('base64') !== value) throw invalidParams('invalid base64 encoding: InvalidByte');
    return bytes;
  }
  if (encoding !== undefined && encoding !== null && encoding !== 'base58')
    throw invalidParams(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`);
  const bytes = decodeBase58(value);
  if (!bytes) throw invalidParams('invalid base58 encoding: InvalidCharacter');
  return Buffer.from(bytes);
}

function decodeBase58(value: unknown): Uint8Array | undefined {
  // Limits the length, because decoding takes quadratic time. No key, signature or transaction exceeds the limit.
  if (typeof value !== 'string' || value.length > 1_700) return undefined;
  try {
    return base58.decode(value);
  } catch {
    return undefined;
  }
}
