import type { Kernel } from '../context/kernel.ts';
import type { Decision } from '../context/ports.ts';
import { recordDecision } from './store.ts';

/** A refusal that repeats within this time is not recorded again. */
const REPEATED_REFUSAL_MS = 60_000;
/** To limit memory use. If a forgotten refusal repeats, it is recorded again. */
const MAX_REMEMBERED_REFUSALS = 10_000;

/**
 * In the background, so that the request does not wait. Each node records a repeated refusal at most once a minute: a
 * client that repeats a refused request could otherwise fill the log, which is kept for years.
 */
export function createRefusalRecorder({ db, log }: Pick<Kernel, 'db' | 'log'>): (decision: Decision) => void {
  const recordedAt = new Map<string, number>();
  return (decision) => {
    const { actor, action, subject, reason, requestId } = decision;
    const key = JSON.stringify([actor, action, subject, reason]);
    const now = performance.now();
    if (now - (recordedAt.get(key) ?? -Infinity) < REPEATED_REFUSAL_MS) return;
    recordedAt.delete(key);
    recordedAt.set(key, now);
    const [oldest] = recordedAt.keys();
    if (recordedAt.size > MAX_REMEMBERED_REFUSALS && oldest !== undefined) recordedAt.delete(oldest);
    recordDecision(db, decision).catch((err: unknown) => {
      recordedAt.delete(key);
      log.warn({ err, request_id: requestId }, 'could not record a refusal in the audit log');
    });
  };
}
