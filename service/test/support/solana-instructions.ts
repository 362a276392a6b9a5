import {
  type Instruction,
  readonly,
  signer,
  writable,
} from '@causeway/contracts/encodings/solana-message.ts';
import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { solanaDeployment } from '@causeway/sandbox/simulators/solana/genesis.ts';
import { keyOf, TOKEN_PROGRAM } from '../../src/platform/chain/solana/addresses.ts';

/** The test dollar. */
export const MINT = solanaDeployment.tokens[0]?.address ?? '';

const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};

export function tokenInstruction(
  data: readonly Uint8Array[],
  accounts: Instruction['accounts'],
): Instruction {
  return { program: keyOf(TOKEN_PROGRAM), accounts, data: Uint8Array.from(Buffer.concat(data)) };
}

export function approveChecked(
  source: string,
  mint: string,
  delegate: string,
  owner: string,
  amount: bigint,
): Instruction {
  const accounts = [
    writable(keyOf(source)),
    readonly(keyOf(mint)),
    readonly(keyOf(delegate)),
    signer(keyOf(owner), false),
  ];
  return tokenInstruction([Uint8Array.of(13), u64(amount), Uint8Array.of(6)], accounts);
}

export function approvePlain(source: string, delegate: string, owner: string, amount: bigint): Instruction {
  const accounts = [writable(keyOf(source)), readonly(keyOf(delegate)), signer(keyOf(owner), false)];
  return tokenInstruction([Uint8Array.of(4), u64(amount)], accounts);
}

export function revoke(source: string, owner: string): Instruction {
  return tokenInstruction([Uint8Array.of(5)], [writable(keyOf(source)), signer(keyOf(owner), false)]);
}

/** Returns an instruction that makes another wallet the owner of the account. */
export function setOwner(account: string, owner: string, newOwner: string): Instruction {
  const accounts = [writable(keyOf(account)), signer(keyOf(owner), false)];
  return tokenInstruction([Uint8Array.of(6, 2, 1), keyOf(newOwner)], accounts);
}

/** Returns an instruction that freezes (10) or thaws (11) an account with the faucet's authority. */
export function freezeOrThaw(tag: 10 | 11, account: string): Instruction {
  const accounts = [
    writable(keyOf(account)),
    readonly(keyOf(MINT)),
    signer(solanaRoles.faucet.publicKey, false),
  ];
  return tokenInstruction([Uint8Array.of(tag)], accounts);
}
