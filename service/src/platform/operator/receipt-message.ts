import { encodeMessage, type Instruction } from '@causeway/contracts/encodings/solana-message.ts';
import { keyOf, receiptAddress, receiptSeed, SYSTEM_PROGRAM } from '../chain/solana/addresses.ts';
import {
  allocateWithSeed,
  createAssociatedAccount,
  initializeTokenAccount,
  memo,
  setComputeUnitLimit,
  setComputeUnitPrice,
  transferChecked,
  transferLamports,
} from '../chain/solana/instructions.ts';
import { TOKEN_ACCOUNT_BYTES } from '../chain/solana/token-accounts.ts';
import type { WireInstruction } from '../chain/solana/wire-transaction.ts';

const ALLOCATE_WITH_SEED = 9;
const SEED_OFFSET = 44;

export type ReceiptPlan = {
  kind: 'commit' | 'remit';
  participationId: string;
  fund: string;
  mint: string;
  decimals: number;
  amount: bigint;
  wallet: string;
  /** The account that pays: for a commit, the user's token account; for a refund, the vault. */
  source: string;
  /**
   * The account that receives: for a commit, the vault; for a refund, the wallet's associated token account.
   */
  destination: string;
};

/**
 * `rent` makes the receipt account rent-exempt, in lamports. `price` is in millionths of a lamport per compute unit.
 */
export type ReceiptFees = { rent: bigint; units: number; price: bigint };

/**
 * Builds the message that commits or refunds a participation. The message allocates the receipt account before it makes
 * the transfer. An account cannot be allocated twice, so this key can make at most one commit and one refund per
 * participation. `CreateAccountWithSeed` would be shorter, but fails if somebody has sent lamports to the receipt's
 * address first.
 */
export function buildReceiptMessage(
  operator: string,
  plan: ReceiptPlan,
  { rent, units, price }: ReceiptFees,
  blockhash: string,
): Uint8Array {
  const { kind, participationId, fund, mint, decimals, amount, wallet, source, destination } = plan;
  const receipt = receiptAddress(operator, participationId, kind);
  const seed = receiptSeed(participationId, kind);
  const refundAccount =
    kind === 'remit' ? [createAssociatedAccount(operator, destination, wallet, mint)] : [];
  const transfer = { source, mint, destination, authority: fund, signers: [operator], amount, decimals };
  const instructions: Instruction[] = [
    setComputeUnitLimit(units),
    setComputeUnitPrice(price),
    transferLamports(operator, receipt, rent),
    allocateWithSeed(receipt, operator, seed, TOKEN_ACCOUNT_BYTES),
    initializeTokenAccount(receipt, mint, operator),
    ...refundAccount,
    transferChecked(transfer),
    memo(participationId),
  ];
  return encodeMessage({ feePayer: keyOf(operator), blockhash: keyOf(blockhash), instructions });
}

/** Returns whether one of the instructions allocates a receipt account, whatever its key and its participation. */
export function hasReceipt(instructions: readonly WireInstruction[]): boolean {
  return instructions.some(
    ({ program, data }) =>
      program === SYSTEM_PROGRAM &&
      data[0] === ALLOCATE_WITH_SEED &&
      /^[\w-]{22}\.[cr]/.test(data.subarray(SEED_OFFSET).toString()),
  );
}
