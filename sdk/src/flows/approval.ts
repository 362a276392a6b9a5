import { encodeFunctionData, parseAbi } from 'viem/utils';
import { sleep } from '../sleep.ts';
import { type Enter, Stop } from './flow.ts';
import { findApproval } from './logs.ts';
import { type Receipt, waitForReceipt } from './receipt.ts';
import type { Session } from './session.ts';
import { sendTransaction, simulate } from './transaction.ts';

type Hex = `0x${string}`;

export type ApprovalPhase = 'resetting_allowance' | 'approving' | 'confirming_approval';
export type Allowance = { token: Hex; spender: Hex; amount: bigint };

const abi = parseAbi(['function approve(address spender, uint256 amount)']);
/** So long the service's node may be behind the wallet's. */
const CATCH_UP = 30_000;

export async function assertBalance(session: Session, { token, amount }: Allowance): Promise<void> {
  const { causeway, address, chain, signal } = session;
  const query = { token_address: token, owner: address, chain };
  const { balance } = await causeway.token.balance(query, { signal });
  if (BigInt(balance) < amount)
    throw new Stop('insufficient_balance', 'The wallet holds less than the amount.', {
      details: { required: String(amount), balance, owner: address, token },
    });
}

export async function readAllowance(session: Session, { token, spender }: Allowance): Promise<bigint> {
  const { causeway, address, chain, signal } = session;
  const query = { token_address: token, owner: address, spender, chain };
  return BigInt((await causeway.token.allowance(query, { signal })).allowance);
}

/** Approves the amount and no more, unless that much is approved already. */
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
  if (approved !== null && approved < wanted.amount) throw tooLittle(wanted, approved, receipt);
  await waitUntilSeen(session, wanted, receipt);
}

/**
 * Sends `approve(spender, amount)`. Where the token refuses that because another allowance is left (as USDT does),
 * the allowance goes through zero first. A token that answers `false` has approved nothing.
 */
export async function sendApproval(
  session: Session,
  enter: Enter<ApprovalPhase>,
  wanted: Allowance,
): Promise<Hex> {
  const call = approveCall(wanted, wanted.amount);
  enter('approving');
  if (!(await isAccepted(session, call, wanted))) {
    const reset = approveCall(wanted, 0n);
    assertNotFalse(await simulate(session, reset));
    enter('resetting_allowance');
    await waitForReceipt(session, await sendTransaction(session, reset));
    enter('approving');
    assertNotFalse(await simulate(session, call));
  }
  return sendTransaction(session, call);
}

function approveCall({ token, spender }: Allowance, amount: bigint) {
  return { to: token, data: encodeFunctionData({ abi, functionName: 'approve', args: [spender, amount] }) };
}

/** False when the token refuses for what may be the allowance that is left. */
async function isAccepted(
  session: Session,
  call: { to: Hex; data: Hex },
  wanted: Allowance,
): Promise<boolean> {
  try {
    assertNotFalse(await simulate(session, call));
    return true;
  } catch (error) {
    const isRefused = error instanceof Stop && error.code === 'contract_reverted';
    if (isRefused && (await readAllowance(session, wanted)) > 0n) return false;
    throw error;
  }
}

/** Old tokens return nothing, which is as good as `true`. */
function assertNotFalse(returned: Hex): void {
  if (returned !== '0x' && BigInt(returned) === 0n)
    throw new Stop('approval_failed', 'The token refuses the approval without saying why.');
}

/** The event of the approval, which is what the service goes by. */
export function assertApproved(receipt: Receipt, owner: Hex, wanted: Allowance): void {
  const approved = findApproval(receipt, owner, wanted);
  if (approved === null)
    throw new Stop('approval_failed', 'The transaction did not approve this token for this contract.', {
      transactionHash: receipt.transactionHash,
    });
  if (approved < wanted.amount) throw tooLittle(wanted, approved, receipt);
}

/** Wallets let their owners change how much they approve. */
function tooLittle(
  { token, spender, amount }: Allowance,
  approved: bigint,
  { transactionHash }: Receipt,
): Stop {
  return new Stop('insufficient_allowance', 'Less than the amount was approved in the wallet.', {
    transactionHash,
    details: { required: String(amount), allowance: String(approved), spender, token },
  });
}

async function waitUntilSeen(
  session: Session,
  wanted: Allowance,
  { transactionHash }: Receipt,
): Promise<void> {
  const begun = Date.now();
  for (;;) {
    const allowance = await readAllowance(session, wanted);
    if (allowance >= wanted.amount) return;
    if (Date.now() - begun > CATCH_UP) throw tooLittle(wanted, allowance, { transactionHash } as Receipt);
    await sleep(session.pollEvery, session.signal);
  }
}
