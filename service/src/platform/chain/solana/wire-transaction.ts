import { base58 } from '@scure/base';

export type WireInstruction = { program: string; accounts: string[]; data: Buffer };

export type WireTransaction = {
  signatures: Buffer[];
  message: Buffer;
  /** The accounts that sign; the first pays the fee. */
  signers: string[];
  /** The account keys in the message itself, not those from lookup tables. */
  keys: string[];
  instructions: { program: number; accounts: number[]; data: Buffer }[];
};

/** The transaction or its message is malformed or of an unknown version. */
export class MalformedTransaction extends Error {
  constructor() {
    super('the transaction is malformed');
    this.name = 'MalformedTransaction';
  }
}

const VERSION_PREFIX = 0x80;

/** Parses a legacy or version 0 transaction. Throws `MalformedTransaction` if it is neither. */
export function parseTransaction(raw: Uint8Array): WireTransaction {
  const cursor = createCursor(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength));
  const signatures = Array.from({ length: cursor.length() }, () => cursor.take(64));
  const message = cursor.rest();
  const first = cursor.peek();
  if (first >= VERSION_PREFIX) {
    if (first !== VERSION_PREFIX) throw new MalformedTransaction();
    cursor.take(1);
  }
  const [signerCount = 0] = cursor.take(3);
  const keys = Array.from({ length: cursor.length() }, () => base58.encode(cursor.take(32)));
  cursor.take(32);
  const instructions = Array.from({ length: cursor.length() }, () => ({
    program: cursor.take(1)[0] ?? 0,
    accounts: [...cursor.take(cursor.length())],
    data: cursor.take(cursor.length()),
  }));
  return { signatures, message, signers: keys.slice(0, signerCount), keys, instructions };
}

/** Resolves the account indexes of an instruction. Throws `MalformedTransaction` if an index is out of range. */
export function resolveInstruction(
  keys: readonly string[],
  { program, accounts, data }: WireTransaction['instructions'][number],
): WireInstruction {
  const keyAt = (index: number): string => {
    const key = keys[index];
    if (key === undefined) throw new MalformedTransaction();
    return key;
  };
  return { program: keyAt(program), accounts: accounts.map(keyAt), data };
}

function createCursor(bytes: Buffer) {
  let offset = 0;
  const take = (count: number): Buffer => {
    if (offset + count > bytes.length) throw new MalformedTransaction();
    offset += count;
    return bytes.subarray(offset - count, offset);
  };
  return {
    take,
    peek: () => bytes[offset] ?? 0,
    rest: () => bytes.subarray(offset),
    length: (): number => {
      let value = 0;
      for (let shift = 0; shift <= 14; shift += 7) {
        const [byte = 0] = take(1);
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
      throw new MalformedTransaction();
    },
  };
}
