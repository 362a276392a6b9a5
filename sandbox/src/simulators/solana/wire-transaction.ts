import { createHash } from 'node:crypto';

export type WireInstruction = { program: number; accounts: number[]; data: Buffer };

/** Accounts that a v0 message takes from a lookup table on chain. */
export type WireLookup = { table: Buffer; writable: number[]; readonly: number[] };

/** A transaction in wire format: signatures and the message they sign. */
export type WireTransaction = {
  raw: Buffer;
  signatures: Buffer[];
  message: Buffer;
  /**
   * A hash of `message`, by which nodes detect duplicates. Signatures would not work, because one message can have
   * several valid signatures.
   */
  messageHash: string;
  version: 'legacy' | 0;
  header: { required: number; readonlySigned: number; readonlyUnsigned: number };
  keys: Buffer[];
  blockhash: Buffer;
  instructions: WireInstruction[];
  lookups: WireLookup[];
};

export class MalformedTransaction extends Error {}

const VERSION_FLAG = 0x80;
const MAX_ACCOUNTS = 256;

/** Parses a transaction. Throws `MalformedTransaction` for bytes that fail a node's deserialization or sanitization. */
export function parseTransaction(raw: Buffer): WireTransaction {
  const reader = createReader(raw);
  const signatures = reader.list(() => reader.bytes(64));
  const start = reader.offset();
  const body = parseMessage(raw.subarray(start));
  if (signatures.length !== body.header.required)
    throw new MalformedTransaction('wrong number of signatures');
  return { raw, signatures, ...body };
}

/** Parses a message without signatures, which is the format that `getFeeForMessage` accepts. */
export function parseMessage(message: Buffer): Omit<WireTransaction, 'raw' | 'signatures'> {
  const reader = createReader(message);
  const isVersioned = (message[0] ?? 0) >= VERSION_FLAG;
  if (isVersioned && reader.byte() !== VERSION_FLAG)
    throw new MalformedTransaction('unsupported message version');
  const header = {
    required: reader.byte(),
    readonlySigned: reader.byte(),
    readonlyUnsigned: reader.byte(),
  };
  const parsed = {
    message,
    messageHash: createHash('sha256').update(message).digest('base64'),
    version: isVersioned ? (0 as const) : ('legacy' as const),
    header,
    keys: reader.list(() => reader.bytes(32)),
    blockhash: reader.bytes(32),
    instructions: reader.list(() => ({
      program: reader.byte(),
      accounts: [...reader.blob()],
      data: reader.blob(),
    })),
    lookups: isVersioned
      ? reader.list(() => ({
          table: reader.bytes(32),
          writable: [...reader.blob()],
          readonly: [...reader.blob()],
        }))
      : [],
  };
  if (reader.offset() !== message.length) throw new MalformedTransaction('trailing bytes');
  sanitize(parsed);
  return parsed;
}

type Sanitizable = Pick<WireTransaction, 'header' | 'keys' | 'instructions' | 'lookups'>;

function sanitize({ header, keys, instructions, lookups }: Sanitizable): void {
  const { required, readonlySigned, readonlyUnsigned } = header;
  const total =
    keys.length + lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0);
  const isSane =
    required > 0 &&
    // The fee payer must be writable.
    readonlySigned < required &&
    required + readonlyUnsigned <= keys.length &&
    total <= MAX_ACCOUNTS &&
    lookups.every(({ writable, readonly }) => writable.length + readonly.length > 0) &&
    instructions.every(
      ({ program, accounts }) =>
        program > 0 && program < keys.length && accounts.every((index) => index < total),
    );
  if (!isSane) throw new MalformedTransaction('invalid transaction: Transaction failed to sanitize');
}

/** Returns whether the static account at `index` is writable. */
export function isWritableKey({ header, keys }: Pick<WireTransaction, 'header' | 'keys'>, index: number) {
  const { required, readonlySigned, readonlyUnsigned } = header;
  return index < required ? index < required - readonlySigned : index < keys.length - readonlyUnsigned;
}

function createReader(bytes: Buffer) {
  let offset = 0;
  const take = (length: number): Buffer => {
    if (offset + length > bytes.length) throw new MalformedTransaction('unexpected end of the transaction');
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  const byte = () => take(1).readUInt8();
  // Reads a compact-u16: at most three bytes. If there is more than one byte, the last one must not be zero.
  const length = (): number => {
    let value = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const next = byte();
      value |= (next & 0x7f) << shift;
      if ((next & 0x80) !== 0) continue;
      if ((next === 0 && shift > 0) || value > 0xffff) break;
      return value;
    }
    throw new MalformedTransaction('invalid length');
  };
  return {
    byte,
    bytes: take,
    blob: () => take(length()),
    list: <T>(read: () => T): T[] => Array.from({ length: length() }, read),
    offset: () => offset,
  };
}
