import { base58 } from '@scure/base';
import { keyOf, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../src/platform/chain/solana/addresses.ts';
import { readTokenAccount, type TokenAccount } from '../../src/platform/chain/solana/token-accounts.ts';
import type { TestSolana } from './solana-chain.ts';
import { MINT } from './solana-instructions.ts';

const SOL = 1_000_000_000n;
const RENT_EPOCH = 2n ** 64n - 1n;

function accountOf(owner: string, lamports: bigint, data: Uint8Array) {
  return { lamports, owner: keyOf(owner), data, executable: false, rentEpoch: RENT_EPOCH };
}

/** Reads a token account as of the latest slot. */
export function tokenAccountOf({ chain }: TestSolana, account: string): TokenAccount | null {
  const state = chain.svm.account(keyOf(account));
  return readTokenAccount(
    state && { owner: base58.encode(state.owner), lamports: state.lamports, data: Buffer.from(state.data) },
  );
}

/** Sets the lamports of a wallet directly in the chain's state, without a transaction. */
export function setLamports({ chain }: TestSolana, address: string, lamports = 10n * SOL): void {
  chain.svm.setAccount(keyOf(address), accountOf(SYSTEM_PROGRAM, lamports, new Uint8Array()));
}

/** Writes a token account directly into the chain's state, without a transaction. */
export function setTokenAccount(
  { chain }: TestSolana,
  account: string,
  owner: string,
  amount: bigint,
  mint = MINT,
): void {
  const data = Buffer.alloc(165);
  data.set(keyOf(mint), 0);
  data.set(keyOf(owner), 32);
  data.writeBigUInt64LE(amount, 64);
  data.writeUInt8(1, 108);
  chain.svm.setAccount(keyOf(account), accountOf(TOKEN_PROGRAM, 2_039_280n, data));
}

/** Writes a multisig account for which the signature of any one signer is enough. */
export function setMultisig({ chain }: TestSolana, account: string, signers: readonly string[]): void {
  const data = Buffer.alloc(355);
  data.set([1, signers.length, 1], 0);
  for (const [i, signer] of signers.entries()) data.set(keyOf(signer), 3 + 32 * i);
  chain.svm.setAccount(keyOf(account), accountOf(TOKEN_PROGRAM, 3_361_680n, data));
}
