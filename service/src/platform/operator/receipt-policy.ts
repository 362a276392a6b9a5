import { encodeTransaction } from '@causeway/contracts/encodings/solana-message.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  associatedAccount,
  COMPUTE_BUDGET_PROGRAM,
  keyOf,
  MEMO_PROGRAM,
  receiptAddress,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../chain/solana/addresses.ts';
import {
  parseTransaction,
  resolveInstruction,
  type WireInstruction,
} from '../chain/solana/wire-transaction.ts';
import { Blocked } from './blocked.ts';
import type { ReceiptPlan } from './receipt-message.ts';
import { feeOf } from './receipt-transaction.ts';

/** Thrown if the operator's key is asked to sign something that the service never signs. */
export class SigningRefused extends Blocked {
  constructor(reason: string) {
    super('signer_policy', `the signer refuses: ${reason}`);
    this.name = 'SigningRefused';
  }
}

/** `vault` and the fund in `plan` were recorded when the participation was accepted. */
export type ReceiptPolicy = { plan: ReceiptPlan; vault: string };

/** In lamports. Constants, because the service learns rent, compute units and price from nodes, and nodes can lie. */
export const MAX_RENT = 10_000_000n;
const MAX_FEE = 50_000_000n;

/**
 * Throws `SigningRefused` unless the message settles the plan and does nothing else. Parses the bytes to be signed, so
 * the check does not rely on the code that built them.
 * - In a commit, tokens may go only to the vault; in a refund, only to the wallet's associated account.
 * - The receipt must belong to the operator.
 * - Lamports may pay only for fees and for the receipt's rent, each up to a limit. A refund may also pay the rent of
 *   the wallet's associated account if that account does not exist yet.
 */
export function assertReceiptAllowed(operator: string, policy: ReceiptPolicy, message: Uint8Array): void {
  const { plan, vault } = policy;
  const refuse = (reason: string): never => {
    throw new SigningRefused(reason);
  };
  const { keys, signers, instructions } = parseTransaction(encodeTransaction(message, []));
  if (signers.length !== 1 || signers[0] !== operator) refuse('the operator must be the only signer');
  const own = associatedAccount(plan.wallet, plan.mint);
  const receipt = receiptAddress(operator, plan.participationId, plan.kind);
  const [from, to] = plan.kind === 'commit' ? [plan.source, vault] : [vault, own];
  if (from === to) refuse('source and destination are the same account');
  const matches = (each: WireInstruction, program: string, tag: readonly number[], accounts: string[]) =>
    each.program === program &&
    tag.every((byte, i) => each.data[i] === byte) &&
    accounts.every((account, i) => each.accounts[i] === account);
  const wanted: ((each: WireInstruction) => boolean)[] = [
    (each) => matches(each, COMPUTE_BUDGET_PROGRAM, [2], []),
    (each) => matches(each, COMPUTE_BUDGET_PROGRAM, [3], []),
    (each) =>
      matches(each, SYSTEM_PROGRAM, [2, 0, 0, 0], [operator, receipt]) &&
      each.data.readBigUInt64LE(4) <= MAX_RENT,
    (each) => matches(each, SYSTEM_PROGRAM, [9, 0, 0, 0], [receipt, operator]),
    (each) => matches(each, TOKEN_PROGRAM, [18, ...keyOf(operator)], [receipt, plan.mint]),
    ...(plan.kind === 'remit'
      ? [
          (each: WireInstruction) =>
            matches(each, ASSOCIATED_TOKEN_PROGRAM, [1], [operator, own, plan.wallet, plan.mint]),
        ]
      : []),
    (each) =>
      matches(each, TOKEN_PROGRAM, [12], [from, plan.mint, to, plan.fund, operator]) &&
      each.data.readBigUInt64LE(1) === plan.amount,
    (each) => each.program === MEMO_PROGRAM && String(each.data) === plan.participationId,
  ];
  if (instructions.length !== wanted.length) refuse('the message has too many or too few instructions');
  for (const [i, each] of instructions.entries())
    if (!wanted[i]?.(resolveInstruction(keys, each))) refuse(`instruction ${i} is not the expected one`);
  const [limit, price] = instructions;
  if (feeOf(limit?.data.readUInt32LE(1) ?? 0, price?.data.readBigUInt64LE(1) ?? 0n) > MAX_FEE)
    refuse('the fee is too high');
}
