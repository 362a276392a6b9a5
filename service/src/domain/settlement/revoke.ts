import type { Hex } from 'viem';
import { encodeRevoke } from '../../platform/chain/evm/allow-list.ts';
import { describeRevert } from '../../platform/chain/evm/revert.ts';
import { Blocked, type BlockedReason } from '../../platform/operator/blocked.ts';
import { sendCall } from '../../platform/operator/sender.ts';
import {
  assignRevocation,
  findNextRevocation,
  postponeRevocation,
  type Revocation,
} from '../wallets/store.ts';
import { estimateGas, withGasMargin } from './estimate.ts';
import type { EvmParts } from './evm-parts.ts';

const BLOCKED_DELAY_SECONDS = 30;
/**
 * How long the alert for a blocked revocation stays raised after the next attempt is due. Without this overlap, the
 * alert would end shortly before each attempt.
 */
const ALERT_OVERLAP_SECONDS = 5;

/** The reasons that concern one allow-list contract only. They must not keep revocations on other contracts waiting. */
const CONTRACT_REASONS: ReadonlySet<BlockedReason> = new Set([
  'fund_stopped',
  'role_missing',
  'reverts',
  'signer_policy',
]);

/**
 * Sends the oldest due revocation of an allow-list entry, or postpones the revocation if it is blocked. Returns 1, or 0
 * if no revocation is due.
 */
export async function revokeNext(worker: EvmParts): Promise<number> {
  const { ctx, account } = worker;
  const next = await findNextRevocation(ctx.db, account.chain.name);
  if (next === undefined) return 0;
  try {
    await sendRevoke(worker, next);
  } catch (error) {
    if (!(error instanceof Blocked && CONTRACT_REASONS.has(error.reason))) throw error;
    worker.alerts.raise(error.reason, error.message, BLOCKED_DELAY_SECONDS + ALERT_OVERLAP_SECONDS);
    await postponeRevocation(ctx.db, next.id, BLOCKED_DELAY_SECONDS);
  }
  return 1;
}

async function sendRevoke({ account, lease }: EvmParts, { id, contract, wallet }: Revocation): Promise<void> {
  const [target, data] = [contract as Hex, encodeRevoke(wallet as Hex)];
  const estimate = await estimateGas(account, target, data, 'revoke');
  if ('revert' in estimate)
    throw new Blocked('reverts', `a revoke on ${contract} would revert: ${describeRevert(estimate.revert)}`);
  const call = { kind: 'revoke' as const, target, data, gas: withGasMargin(estimate.gas) };
  await sendCall(account, lease(), call, (tx, transactionId) => assignRevocation(tx, id, transactionId));
}
