import {
  type AccountMeta,
  type Instruction,
  readonly,
  signer,
  writable,
} from '@causeway/contracts/encodings/solana-message.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  keyOf,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from './addresses.ts';

/** All instructions that the operator signs. */

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};

function instruction(program: string, accounts: AccountMeta[], data: readonly Uint8Array[]): Instruction {
  return { program: keyOf(program), accounts, data: Uint8Array.from(Buffer.concat(data)) };
}

export function setComputeUnitLimit(units: number): Instruction {
  return instruction(COMPUTE_BUDGET_PROGRAM, [], [Uint8Array.of(2), u32(units)]);
}

/** `price` is in millionths of a lamport per compute unit. */
export function setComputeUnitPrice(price: bigint): Instruction {
  return instruction(COMPUTE_BUDGET_PROGRAM, [], [Uint8Array.of(3), u64(price)]);
}

export function transferLamports(from: string, to: string, lamports: bigint): Instruction {
  return instruction(SYSTEM_PROGRAM, [signer(keyOf(from)), writable(keyOf(to))], [u32(2), u64(lamports)]);
}

/** Only `base` can allocate the account, and only once. So an allocated account proves that the transaction ran. */
export function allocateWithSeed(account: string, base: string, seed: string, bytes: number): Instruction {
  const text = Buffer.from(seed);
  return instruction(
    SYSTEM_PROGRAM,
    [writable(keyOf(account)), signer(keyOf(base), false)],
    [u32(9), keyOf(base), u64(BigInt(text.length)), text, u64(BigInt(bytes)), keyOf(TOKEN_PROGRAM)],
  );
}

export function initializeTokenAccount(account: string, mint: string, owner: string): Instruction {
  const accounts = [writable(keyOf(account)), readonly(keyOf(mint))];
  return instruction(TOKEN_PROGRAM, accounts, [Uint8Array.of(18), keyOf(owner)]);
}

export function initializeMultisig(
  account: string,
  required: number,
  signers: readonly string[],
): Instruction {
  const accounts = [writable(keyOf(account)), ...signers.map((each) => readonly(keyOf(each)))];
  return instruction(TOKEN_PROGRAM, accounts, [Uint8Array.of(19, required)]);
}

type TokenTransfer = {
  source: string;
  mint: string;
  destination: string;
  authority: string;
  signers: readonly string[];
  amount: bigint;
  decimals: number;
};

export function transferChecked(transfer: TokenTransfer): Instruction {
  const { source, mint, destination, authority, signers, amount, decimals } = transfer;
  const accounts = [
    writable(keyOf(source)),
    readonly(keyOf(mint)),
    writable(keyOf(destination)),
    readonly(keyOf(authority)),
    ...signers.map((each) => signer(keyOf(each), false)),
  ];
  return instruction(TOKEN_PROGRAM, accounts, [Uint8Array.of(12), u64(amount), Uint8Array.of(decimals)]);
}

export function closeAccount(account: string, owner: string): Instruction {
  const accounts = [writable(keyOf(account)), writable(keyOf(owner)), signer(keyOf(owner), false)];
  return instruction(TOKEN_PROGRAM, accounts, [Uint8Array.of(9)]);
}

/** Creates a wallet's associated token account unless it already exists. */
export function createAssociatedAccount(
  payer: string,
  account: string,
  wallet: string,
  mint: string,
): Instruction {
  const accounts = [
    signer(keyOf(payer)),
    writable(keyOf(account)),
    ...[wallet, mint, SYSTEM_PROGRAM, TOKEN_PROGRAM].map((each) => readonly(keyOf(each))),
  ];
  return instruction(ASSOCIATED_TOKEN_PROGRAM, accounts, [Uint8Array.of(1)]);
}

export function memo(text: string): Instruction {
  return instruction(MEMO_PROGRAM, [], [Buffer.from(text)]);
}
