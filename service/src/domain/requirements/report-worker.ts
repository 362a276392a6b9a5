import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { listEventReaders } from '../../platform/events/event.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import { type Report, reportUser, STATUS_CHANGED } from './report.ts';
import { listDueChecks, lockDueCheck, lockReports, planCheck } from './report-store.ts';
import type { UserFacts } from './status.ts';
import { validUntil } from './validity.ts';

const INTERVAL_MS = 250;
const BATCH_SIZE = 100;
const DAY_MS = 86_400_000;

/**
 * Reports status changes that no request has reported, for example after a form has expired. Any number of nodes may
 * run this worker.
 */
export function startStatusReports(ctx: Context): () => Promise<void> {
  return startInterval(ctx, INTERVAL_MS, 'reporting statuses failed', () => reportDueStatuses(ctx));
}

export async function reportDueStatuses(ctx: Context): Promise<void> {
  for (;;) {
    const due = await listDueChecks(ctx.db, toTimestamp(ctx.clock.micros()), BATCH_SIZE);
    for (const userId of due) if (!(await checkUser(ctx, userId))) return;
    if (due.length < BATCH_SIZE) return;
  }
}

/**
 * Reports the user's changed statuses. Returns false if the offers cannot be cached, for example while the connection
 * for database notifications is down. The check then stays due.
 */
async function checkUser(ctx: Context, userId: string): Promise<boolean> {
  // Fills the offer cache, which the report reads inside its transaction.
  for (const partnerId of await listEventReaders(ctx.db, userId, STATUS_CHANGED))
    await ctx.offers.of(partnerId);
  return ctx.db.transaction().execute(async (tx) => {
    // Takes the locks in the same order as `reportStatuses` and the trigger that schedules checks.
    await lockReports(tx, userId);
    if (!(await lockDueCheck(tx, userId, toTimestamp(ctx.clock.micros())))) return true;
    const report = await reportUser(ctx, tx, userId);
    if (report === null) return false;
    const lapse = nextLapse(report, ctx.clock.now());
    await planCheck(tx, userId, Number.isFinite(lapse) ? toTimestamp(Math.ceil(lapse) * 1000) : null);
    return true;
  });
}

/**
 * Returns when a status may next change on its own, because an accreditation, a form or the link to a form expires. The
 * time is in epoch milliseconds, or `Infinity` if nothing expires.
 */
function nextLapse({ facts, options }: NonNullable<Report>, now: number): number {
  if (facts === null) return Infinity;
  const reviewedAt = facts.reviews.AccreditationIndividual_FullVerification?.reviewedAt ?? null;
  const accreditations = options.flatMap(({ option }) =>
    reviewedAt === null ? [] : [reviewedAt + option.accreditation_days * DAY_MS],
  );
  const forms = Object.values(facts.documents).flatMap((form) => (form === undefined ? [] : [endOf(form)]));
  return Math.min(...[...accreditations, ...forms].filter((time) => time > now));
}

function endOf({ completedAt, expiresAt }: NonNullable<UserFacts['documents'][string]>): number {
  return completedAt === null ? expiresAt : validUntil(completedAt);
}
