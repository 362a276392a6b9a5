import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvents, type EventSource } from '../../platform/events/event.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import {
  listUnreportedStates,
  type ReportedState,
  recordReportedState,
  type UnreportedState,
} from './store.ts';

const INTERVAL_MS = 500;

/** Also reports a published offer to partners that were added to it later. */
export function startOfferReports(ctx: Context): () => Promise<void> {
  return startInterval(ctx, INTERVAL_MS, 'reporting offer states failed', () => reportOffers(ctx));
}

export async function reportOffers(ctx: Pick<Context, 'db'> & EventSource): Promise<void> {
  if ((await listUnreportedStates(ctx.db, toTimestamp(ctx.clock.micros()), null)).length === 0) return;
  await ctx.db.transaction().execute((tx) => reportOfferStates(ctx, tx, null));
}

/** Appends an event for each change of state that has not been reported to the partners yet. */
export async function reportOfferStates(source: EventSource, tx: Db, slug: string | null): Promise<void> {
  for (const state of await listUnreportedStates(tx, toTimestamp(source.clock.micros()), slug))
    if (await recordReportedState(tx, state)) await appendEvents(source, tx, eventsOf(state));
}

/**
 * The first event is always `offer.published`. It also reports that an offer has become upcoming again, because it
 * was reopened or its start was moved.
 */
function eventsOf(state: UnreportedState) {
  const { id, slug, type, starts_at, ends_at, partner_id, reported, actual } = state;
  const stated: ReportedState[] =
    reported === null && actual !== 'published' ? ['published', actual] : [actual];
  return stated.map((each) => ({
    ...{ partnerId: partner_id, userId: null, type: `offer.${each}` },
    data: { object: 'offer', id, slug, type, starts_at, ends_at, state: STATES[actual] },
    related: { object: 'offer', id, path: `/v1/offers/${id}` },
  }));
}

/** The value of the offer's `summary.state` for each reported state. */
const STATES: Record<ReportedState, string> = { published: 'upcoming', started: 'open', ended: 'ended' };
