import type { SolanaChain } from '../chain/solana/client.ts';
import {
  readAccounts,
  readEpoch,
  readStatuses,
  type SignatureStatus,
  sendTransaction,
} from '../chain/solana/reads.ts';
import { type AccountInfo, readTokenAccount } from '../chain/solana/token-accounts.ts';
import type { Db } from '../db/pool.ts';
import type { Progress } from './follow.ts';
import { type Lease, withLease } from './lease.ts';
import { listOpenReceipts, markLanded, markReceiptSent } from './receipt-store.ts';
import { feeOf, type ReceiptAttempt, type ReceiptTransaction } from './receipt-transaction.ts';
import { forgetExcept, isSendDue, recordRefusal } from './refused-attempts.ts';
import type { SolanaAccount } from './solana-account.ts';
import { markDisplaced } from './store.ts';

/** `landed`: the receipt is finalized. `expired`: no attempt has landed, and none can land any more. */
export type ReceiptVerdict = 'landed' | 'expired' | 'open';

export type ReceiptHandlers = {
  /** Runs in the database transaction that records the success of `transaction`. */
  settle(tx: Db, transaction: ReceiptTransaction): Promise<void>;
  /** Runs in the database transaction that records the verdict `expired`. */
  release(tx: Db, transaction: ReceiptTransaction): Promise<void>;
  /** Signs another attempt if the participation may still be settled. */
  renew(lease: Lease, transaction: ReceiptTransaction): Promise<void>;
  /** `judge` determines the verdict again from another view of the chain, such as another provider's. */
  isReliable(
    transaction: ReceiptTransaction,
    verdict: ReceiptVerdict,
    judge: (view: SolanaChain) => Promise<ReceiptVerdict>,
  ): Promise<boolean>;
};

export type ReceiptTimings = {
  /** Seconds after which an attempt is sent again. */
  resendSeconds: number;
  /** Seconds after which another attempt is signed if no node has seen any attempt. */
  renewSeconds: number;
};

/**
 * Only finalized accounts decide the outcome: if the receipt exists, an attempt has landed; if it does not once every
 * attempt has expired, none can ever land. Transaction statuses only avoid needless resends.
 */
export async function followReceipts(
  account: SolanaAccount,
  lease: Lease,
  timings: ReceiptTimings,
  handlers: ReceiptHandlers,
): Promise<Progress> {
  const open = await listOpenReceipts(account.db, account.key);
  forgetExcept(
    account.refused,
    new Set(open.flatMap(({ attempts }) => attempts.map((each) => each.signature))),
  );
  if (open.length === 0) return { unmined: 0, confirming: 0 };
  const { verdicts, slot, height } = await judgeReceipts(account.chain, account.key.address, open);
  const waiting = open.filter((_, i) => verdicts[i] === 'open');
  const statuses = await readAttemptStatuses(account.chain, open);
  for (const [i, transaction] of open.entries()) {
    const verdict = verdicts[i] ?? 'open';
    if (verdict === 'open') continue;
    const judge = async (view: SolanaChain) =>
      (await judgeReceipts(view, account.key.address, [transaction])).verdicts[0] ?? 'open';
    if (!(await handlers.isReliable(transaction, verdict, judge))) continue;
    await withLease(account.db, lease, async (tx) => {
      if (verdict === 'expired') {
        if (await markDisplaced(tx, transaction.id)) await handlers.release(tx, transaction);
      } else if (await markLanded(tx, transaction.id, describeLanding(transaction, statuses, slot)))
        await handlers.settle(tx, transaction);
    });
  }
  for (const transaction of waiting)
    await advance(account, lease, transaction, statuses, height, timings, handlers);
  const isSeen = ({ attempts }: ReceiptTransaction) =>
    attempts.some(({ signature }) => statuses.get(signature)?.isFailed === false);
  const confirming = waiting.filter(isSeen).length;
  return { unmined: waiting.length - confirming, confirming };
}

/** At the finalized `height` or later, so that every attempt that landed by then is visible. */
async function judgeReceipts(
  chain: SolanaChain,
  operator: string,
  open: readonly ReceiptTransaction[],
): Promise<{ verdicts: ReceiptVerdict[]; slot: bigint; height: bigint }> {
  const { slot, height } = await readEpoch(chain);
  const receipts = open.map(({ receipt }) => receipt);
  const accounts = await readAccounts(chain, receipts, { commitment: 'finalized', minSlot: slot });
  const verdicts = open.map(({ attempts }, i): ReceiptVerdict => {
    if (isReceiptOf(operator, accounts[i] ?? null)) return 'landed';
    return attempts.every(({ lastValidHeight }) => lastValidHeight < height) ? 'expired' : 'open';
  });
  return { verdicts, slot, height };
}

/** If somebody merely sent lamports to the address, the account belongs to the system program and is no receipt. */
export function isReceiptOf(operator: string, account: AccountInfo | null): boolean {
  return readTokenAccount(account)?.owner === operator;
}

async function readAttemptStatuses(
  chain: SolanaChain,
  open: readonly ReceiptTransaction[],
): Promise<Map<string, SignatureStatus | null>> {
  const signatures = open.flatMap(({ attempts }) => attempts.map(({ signature }) => signature));
  // Statuses are only hints, so a node that cannot return them must not stop the round.
  const statuses = await readStatuses(chain, signatures).catch(() => []);
  return new Map(signatures.map((signature, i) => [signature, statuses[i] ?? null]));
}

/** If no node knows the status, uses the finalized `slot` of the receipt, which is later than the transaction's. */
function describeLanding(
  { attempts, units }: ReceiptTransaction,
  statuses: ReadonlyMap<string, SignatureStatus | null>,
  slot: bigint,
) {
  const landed = attempts.find(({ signature }) => statuses.get(signature)?.isFailed === false);
  const { signature = null } = landed ?? (attempts.length === 1 ? attempts[0] : undefined) ?? {};
  const fee = feeOf(units, landed?.price ?? attempts.at(-1)?.price ?? 0n);
  return { signature, slot: statuses.get(signature ?? '')?.slot ?? slot, fee };
}

/**
 * Sends the newest attempt again every `resendSeconds` unless a node has seen one. Once it is older than
 * `renewSeconds`, signs another.
 */
async function advance(
  account: SolanaAccount,
  lease: Lease,
  transaction: ReceiptTransaction,
  statuses: ReadonlyMap<string, SignatureStatus | null>,
  height: bigint,
  timings: ReceiptTimings,
  handlers: ReceiptHandlers,
): Promise<void> {
  const isSeen = transaction.attempts.some(({ signature }) => statuses.get(signature) != null);
  if (isSeen) return;
  const last = transaction.attempts.at(-1);
  if (last === undefined || last.age > timings.renewSeconds) return handlers.renew(lease, transaction);
  const isDue = isSendDue(account.refused, last.signature, last.sentAge, timings.resendSeconds);
  if (isDue && last.lastValidHeight >= height) await broadcastReceipt(account, last);
}

/** Sends stored bytes to every endpoint. If no node accepts them, only records this: a later round resends them. */
export async function broadcastReceipt(
  account: SolanaAccount,
  { raw, signature }: Pick<ReceiptAttempt, 'raw' | 'signature'>,
): Promise<void> {
  try {
    await sendTransaction(account.chain, raw);
  } catch (error) {
    recordRefusal(account, signature, error);
    return;
  }
  account.refused.delete(signature);
  await markReceiptSent(account.db, signature);
}
