/** An account that an instruction uses. */
export type AccountMeta = { key: Uint8Array; isSigner: boolean; isWritable: boolean };

export type Instruction = { program: Uint8Array; accounts: readonly AccountMeta[]; data: Uint8Array };

export type MessageParts = {
  feePayer: Uint8Array;
  /** The 32 bytes of a recent blockhash. */
  blockhash: Uint8Array;
  instructions: readonly Instruction[];
};

/** Returns the account as an instruction's signer, writable by default. */
export const signer = (key: Uint8Array, isWritable = true): AccountMeta => ({
  key,
  isSigner: true,
  isWritable,
});
export const writable = (key: Uint8Array): AccountMeta => ({ key, isSigner: false, isWritable: true });
export const readonly = (key: Uint8Array): AccountMeta => ({ key, isSigner: false, isWritable: false });

/** Encodes a legacy message: the bytes that every signer signs. */
export function encodeMessage({ feePayer, blockhash, instructions }: MessageParts): Uint8Array<ArrayBuffer> {
  const metas = collectAccounts(feePayer, instructions);
  const order = metas.map(({ key }) => toText(key));
  const indexOf = (key: Uint8Array) => order.indexOf(toText(key));
  const signers = metas.filter(({ isSigner }) => isSigner);
  const isReadonly = ({ isWritable }: AccountMeta) => !isWritable;
  return concat([
    Uint8Array.of(
      signers.length,
      signers.filter(isReadonly).length,
      metas.filter((meta) => !meta.isSigner && isReadonly(meta)).length,
    ),
    encodeLength(metas.length),
    ...metas.map(({ key }) => key),
    blockhash,
    encodeLength(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      Uint8Array.of(indexOf(program)),
      encodeLength(accounts.length),
      Uint8Array.from(accounts, ({ key }) => indexOf(key)),
      encodeLength(data.length),
      data,
    ]),
  ]);
}

/** Encodes a transaction. Signatures are in the order of the message's signers, fee payer first. */
export function encodeTransaction(message: Uint8Array, signatures: readonly Uint8Array[]) {
  return concat([encodeLength(signatures.length), ...signatures, message]);
}

/** Encodes a length as compact-u16: seven bits per byte, least significant first. */
export function encodeLength(length: number): Uint8Array {
  const bytes: number[] = [];
  let rest = length;
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.of(...bytes, rest);
}

/**
 * Merges the accounts of all instructions, in the order that the message header requires: writable signers, readonly
 * signers, other writable accounts, other readonly accounts.
 */
function collectAccounts(feePayer: Uint8Array, instructions: readonly Instruction[]): AccountMeta[] {
  const merged = new Map<string, AccountMeta>();
  const add = (meta: AccountMeta) => {
    const known = merged.get(toText(meta.key));
    merged.set(toText(meta.key), {
      key: meta.key,
      isSigner: meta.isSigner || known?.isSigner === true,
      isWritable: meta.isWritable || known?.isWritable === true,
    });
  };
  add(signer(feePayer));
  for (const { accounts } of instructions) accounts.forEach(add);
  for (const { program } of instructions) add(readonly(program));
  const rank = ({ isSigner, isWritable }: AccountMeta) => (isSigner ? 0 : 2) + (isWritable ? 0 : 1);
  // The fee payer stays first, because it was added first and the sort is stable.
  return [...merged.values()].sort((a, b) => rank(a) - rank(b));
}

function toText(key: Uint8Array): string {
  return String.fromCharCode(...key);
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
