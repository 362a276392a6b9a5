import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { sleep } from '../sleep.ts';
import { approveAbi } from './abi.ts';
import { type Enter, FlowFailure } from './flow.ts';
import { findApproval } from './logs.ts';
import { waitForReceipt } from './receipt.ts';
import type { Receipt } from './rpc.ts';
import type { Session } from './session.ts';
import { type Call, sendTransaction, simulate } from './transaction.ts';

export type ApprovalPhase = 'resetting_allowance' | 'approving' | 'confirming_approval';
export type Allowance = { token: Hex; spender: Hex; amount: bigint };

/** How long to wait for the service's chain node, which may lag behind the wallet's node. */
export const MAX_NODE_LAG_MS = 30_000;

export async function assertBalance(session: Session, { token, amount }: Allowance): Promise<void> {
  const { causeway, address, chain, signal } = session;
  const query = { token_address: token, owner: address, chain };
  const { balance } = await causeway.token.balance(query, { signal });
  if (BigInt(balance) < amount) throw balanceTooLow(address, token, amount, BigInt(balance));
}

export function balanceTooLow(owner: string, token: string, amount: bigint, balance: bigint): FlowFailure {
  return new FlowFailure('insufficient_balance', "The wallet's balance is lower than the amount.", {
    details: { required: String(amount), balance: String(balance), owner, token },
  });
}

export async function readAllowance(session: Session, { token, spender }: Allowance): Promise<bigint> {
  const { causeway, address, chain, signal } = session;
  const query = { token_address: token, owner: address, spender, chain };
  return BigInt((await causeway.token.allowance(query, { signal })).allowance);
}

/** Approves exactly `wanted.amount`, unless the allowance already covers it. */
export async function ensureAllowance(
  session: Session,
  enter: Enter<ApprovalPhase>,
  wanted: Allowance,
): Promise<void> {
  if ((await readAllowance(session, wanted)) >= wanted.amount) return;
  const hash = await sendApproval(session, enter, wanted);
  enter('confirming_approval');
  const receipt = await waitForReceipt(session, hash);
  const approved = findApproval(receipt, session.address, wanted);
  const { transactionHash } = receipt;
  if (approved !== null && approved < wanted.amount) throw tooLow(wanted, approved, transactionHash);
  await waitUntilVisible(session, wanted, transactionHash);
}

/**
 * Sends `approve(spender, amount)`. If the token rejects the call because of an earlier allowance, as USDT does, first
 * resets the allowance to zero. Throws if the token returns `false`, which means that it approved nothing.
 */
export async function sendApproval(
  session: Session,
  enter: Enter<ApprovalPhase>,
  wanted: Allowance,
): Promise<Hex> {
  enter('approving');
  const { reset, approve } = await planApproval(session, wanted);
  if (reset !== undefined) {
    enter('resetting_allowance');
    await waitForReceipt(session, await sendTransaction(session, reset));
    enter('approving');
    assertNotFalse(await simulate(session, approve));
  }
  return sendTransaction(session, approve);
}

/**
 * Returns the call that approves exactly `wanted.amount`. If an earlier allowance must first be reset to zero, also
 * returns the call that does so, as `reset`.
 */
export async function planApproval(
  session: Session,
  wanted: Allowance,
): Promise<{ reset: Call | undefined; approve: Call }> {
  const approve = approveCall(wanted, wanted.amount);
  if (await canApprove(session, approve, wanted)) return { reset: undefined, approve };
  const reset = approveCall(wanted, 0n);
  assertNotFalse(await simulate(session, reset));
  return { reset, approve };
}

export function approveCall({ token, spender }: Omit<Allowance, 'amount'>, amount: bigint): Call {
  const data = encodeFunctionData({ abi: approveAbi, functionName: 'approve', args: [spender, amount] });
  return { to: token, data };
}

/**
 * Checks whether the token accepts the call. Returns false if the token rejects the call and an earlier allowance may
 * be the reason. Rethrows any other failure.
 */
async function canApprove(session: Session, call: Call, wanted: Allowance): Promise<boolean> {
  try {
    assertNotFalse(await simulate(session, call));
    return true;
  } catch (error) {
    const isReverted = error instanceof FlowFailure && error.code === 'contract_reverted';
    if (isReverted && (await readAllowance(session, wanted)) > 0n) return false;
    throw error;
  }
}

/** Old tokens return nothing, which counts as `true`. */
export function assertNotFalse(returned: Hex): void {
  if (returned !== '0x' && BigInt(returned) === 0n)
    throw new FlowFailure('approval_failed', 'The token rejected the approval without giving a reason.');
}

/**
 * Throws unless the receipt has an `Approval` event for at least `wanted.amount`. The service checks the same event.
 */
export function assertApproved(receipt: Receipt, owner: Hex, wanted: Allowance): void {
  const approved = findApproval(receipt, owner, wanted);
  if (approved === null)
    throw new FlowFailure(
      'approval_failed',
      'The transaction does not approve this token for this contract.',
      { transactionHash: receipt.transactionHash },
    );
  if (approved < wanted.amount) throw tooLow(wanted, approved, receipt.transactionHash);
}

/** Returns the error for an approval below `amount`. Wallets let their owners lower the amount to approve. */
export function tooLow(
  { token, spender, amount }: Allowance,
  approved: bigint,
  transactionHash?: Hex,
): FlowFailure {
  return new FlowFailure('insufficient_allowance', 'The wallet approved less than the amount.', {
    transactionHash,
    details: { required: String(amount), allowance: String(approved), spender, token },
  });
}

/** Waits until the service sees the allowance on its chain node. Until then, the service would reject the order. */
async function waitUntilVisible(session: Session, wanted: Allowance, transactionHash: Hex): Promise<void> {
  const startedAt = Date.now();
  for (;;) {
    const allowance = await readAllowance(session, wanted);
    if (allowance >= wanted.amount) return;
    if (Date.now() - startedAt > MAX_NODE_LAG_MS) throw tooLow(wanted, allowance, transactionHash);
    await sleep(session.pollIntervalMs, session.signal);
  }
}
