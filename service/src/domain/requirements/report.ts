import { isKnownType } from '../../kernel/model/known-types.ts';
import type { Requirement, RequirementStatus } from '../../kernel/model/requirement.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Offer, PartnerOffers } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvents, type NewEvent } from '../../platform/events/event.ts';
import { listEventReaders } from '../../platform/events/store.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import { readFacts, type UserFacts } from './facts.ts';
import { requirementStatus } from './status.ts';
import {
  listDueChecks,
  listReportedStatuses,
  lockDueCheck,
  lockReports,
  planCheck,
  type ReportedStatus,
  saveReportedStatuses,
} from './store.ts';
import { validUntil } from './validity.ts';

const STATUS_CHANGED = 'requirement.status_changed';

type ReportedOption = { partnerId: string; offer: Offer; option: OfferOption };

/** Null if no report was made, because a partner's offers were not cached. */
type Report = { facts: UserFacts | null; options: ReportedOption[] } | null;

/**
 * Appends a `requirement.status_changed` event for every requirement whose status differs from the one last reported to
 * a partner. Call this function last in the transaction that changed the facts.
 *
 * If a partner's offers are not cached, reports nothing about the user. The worker makes the report after the commit.
 * Loading the offers here would need a second connection inside the transaction, which could exhaust the pool.
 */
export async function reportStatuses(ctx: Context, tx: Db, ...userIds: readonly string[]): Promise<void> {
  // Reports on the users in a fixed order, so that two transactions about the same users do not deadlock.
  for (const userId of [...new Set(userIds)].sort()) await reportUser(ctx, tx, userId);
}

async function reportUser(ctx: Context, tx: Db, userId: string): Promise<Report> {
  await lockReports(tx, userId);
  const options: ReportedOption[] = [];
  for (const partnerId of await listEventReaders(tx, userId, STATUS_CHANGED)) {
    const offers = ctx.offers.of(partnerId);
    if (offers instanceof Promise) {
      offers.catch(() => undefined);
      return null;
    }
    options.push(...reportedOptions(partnerId, offers, ctx.clock.now()));
  }
  if (options.length === 0) return { facts: null, options };
  const ids = options.map(({ option }) => option.id);
  const facts = await readFacts(ctx, tx, userId, ids);
  const reported = await listReportedStatuses(tx, userId);
  if (facts !== null) await reportChanges(ctx, tx, userId, { facts, options, reported });
  return { facts, options };
}

function reportedOptions(partnerId: string, { offers }: PartnerOffers, now: number): ReportedOption[] {
  return offers
    .filter(({ ends }) => now < ends)
    .flatMap((offer) => offer.options.map((option) => ({ partnerId, offer, option })));
}

async function reportChanges(
  ctx: Context,
  tx: Db,
  userId: string,
  {
    facts,
    options,
    reported,
  }: { facts: UserFacts; options: readonly ReportedOption[]; reported: readonly ReportedStatus[] },
): Promise<void> {
  const last = new Map(reported.map((row) => [`${row.partner_id} ${row.requirement_id}`, row]));
  const now = ctx.clock.now();
  const rows: ReportedStatus[] = [];
  const events: NewEvent[] = [];
  // Skips requirement types that this node does not know. During an upgrade, these types are reported by the nodes that
  // run the newer release.
  for (const { partnerId, offer, option } of options)
    for (const requirement of option.requirements.filter(isKnownType)) {
      const current = partsOf(requirementStatus(requirement, option, facts, now));
      const before = last.get(`${partnerId} ${requirement.id}`) ?? initialStatus(requirement);
      if (before.status === current.status && before.action === current.action) continue;
      rows.push({ user_id: userId, partner_id: partnerId, requirement_id: requirement.id, ...current });
      const { id, type } = requirement;
      events.push({
        ...{ partnerId, userId, type: STATUS_CHANGED },
        data: { object: 'requirement', id, type, offer_id: offer.id, offer_option_id: option.id, ...current },
        changes: {
          status: before.status,
          ...(before.action !== current.action && { action: before.action }),
        },
        related: {
          ...{ object: 'requirement_statuses', id: offer.id },
          path: `/v1/offers/${offer.id}/requirements/statuses`,
        },
      });
    }
  await saveReportedStatuses(tx, rows);
  await appendEvents(ctx, tx, events);
}

type StatusParts = Pick<ReportedStatus, 'status' | 'action'>;

/** A status that needs no report, because nothing is known about the user. */
function initialStatus({ type }: Requirement): StatusParts {
  if (type === 'jurisdiction') return { status: 'action_needed', action: 'kyc_not_verified' };
  return { status: 'not_started', action: null };
}

function partsOf(status: RequirementStatus): StatusParts {
  if (typeof status === 'string') return { status, action: null };
  return { status: status.status, action: status.action ?? null };
}

const INTERVAL_MS = 250;
const BATCH_SIZE = 100;
const DAY_MS = 86_400_000;

/** Reports changes that no request has reported, such as an expired form. Any number of nodes may run it. */
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

/** Returns false, and the check stays due, if the offers cannot be cached, as while notifications are down. */
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

/** Returns when an accreditation, a form or the link to a form expires next, or `Infinity`. */
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
