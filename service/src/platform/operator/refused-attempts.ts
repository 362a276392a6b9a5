import type { Log } from '../../kernel/log.ts';
import { upstreamFailureOf } from '../outbound/failure.ts';
import { classifyRejection, type Rejection } from './node-errors.ts';

export type Refusal = { rejection: Rejection; message: string };

/** By transaction hash or signature. `at` is the `performance.now()` time at which the attempt was sent. */
export type RefusedAttempts = Map<string, Refusal & { at: number }>;

export function recordRefusal(
  { refused, log, chain }: { refused: RefusedAttempts; log: Log; chain: { name: string } },
  transactionHash: string,
  error: unknown,
): Refusal {
  const message =
    upstreamFailureOf(error)?.message ?? (error instanceof Error ? error.message : String(error));
  if (![...refused.values()].some((each) => reasonOf(each.message) === reasonOf(message)))
    log.warn(
      { chain: chain.name, transaction_hash: transactionHash },
      `no node accepted the transaction: ${message}`,
    );
  const refusal = { rejection: classifyRejection(error), message };
  refused.set(transactionHash, { ...refusal, at: performance.now() });
  return refusal;
}

/** Returns the message without fees, balances, nonces and addresses, which differ between transactions and blocks. */
function reasonOf(message: string): string {
  return message.replace(/\b(0x[0-9a-f]+|\d+)\b/gi, '#');
}

/** If it was never sent, or `resendSeconds` after a node accepted it or all nodes refused it. */
export function isSendDue(
  refused: RefusedAttempts,
  transactionHash: string,
  sentAge: number | null,
  resendSeconds: number,
): boolean {
  const at = refused.get(transactionHash)?.at;
  const age = at === undefined ? sentAge : (performance.now() - at) / 1000;
  return age === null || age > resendSeconds;
}

export function forgetExcept(refused: RefusedAttempts, openHashes: ReadonlySet<string>): void {
  for (const hash of refused.keys()) if (!openHashes.has(hash)) refused.delete(hash);
}
