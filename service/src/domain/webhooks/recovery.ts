import type { Caller } from '../../kernel/access.ts';
import { invalidField } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import { DELIVERY_RETENTION_MS } from './delivery-log.ts';
import { insertDeliveries } from './delivery-store.ts';
import { type EndpointContext, requireEnabled } from './endpoint.ts';
import { listMissedEvents, restartDeliveries } from './recovery-store.ts';
import type { RecoveryRange, WebhookRecovery } from './schema.ts';

const MAX_RECOVERED = 10_000;
const INSERT_BATCH_SIZE = 1_000;
const LATEST_TIME = Date.parse('9999-12-31T23:59:59Z');
/**
 * The maximum difference between the clocks of two nodes. The time in an event's id may also differ from the event's
 * timestamp by this much.
 */
const CLOCK_TOLERANCE_MS = 10_000;

/**
 * Resends the events that the endpoint missed in a time range. Leaves out events that were delivered or are waiting for
 * delivery. Also leaves out events older than `DELIVERY_RETENTION_MS` that have no delivery. Those may have been
 * delivered, because finished deliveries are deleted after that time.
 */
export async function recoverDeliveries(
  ctx: EndpointContext,
  { partnerId }: Pick<Caller, 'partnerId'>,
  id: string,
  range: RecoveryRange,
): Promise<WebhookRecovery> {
  const bounds = readBounds(ctx, range);
  return ctx.commitReply(async (tx) => {
    await requireEnabled(tx, partnerId, id);
    const missed = await listMissedEvents(tx, id, bounds, MAX_RECOVERED + 1);
    if (missed.length > MAX_RECOVERED)
      throw invalidField('since', `selects more than ${MAX_RECOVERED} events; use a shorter range`);
    await restartDeliveries(
      tx,
      missed.flatMap(({ delivery_id }) => (delivery_id === null ? [] : [delivery_id])),
    );
    const rows = missed
      .filter(({ delivery_id }) => delivery_id === null)
      .map(({ event_id, subject, sequence }) => ({
        ...{ id: newId(ctx.clock, ctx.random), endpoint_id: id, event_id, subject, sequence },
        inserted_at: toTimestamp(ctx.clock.micros()),
      }));
    for (let at = 0; at < rows.length; at += INSERT_BATCH_SIZE)
      await insertDeliveries(tx, rows.slice(at, at + INSERT_BATCH_SIZE));
    return { object: 'webhook_recovery', endpoint_id: id, deliveries: missed.length };
  });
}

function readBounds({ clock }: EndpointContext, range: RecoveryRange) {
  const since = Math.max(0, Date.parse(range.since));
  const until = Math.min(LATEST_TIME, range.until === undefined ? clock.now() : Date.parse(range.until));
  if (since > until)
    throw range.until === undefined
      ? invalidField('since', 'must not be in the future')
      : invalidField('until', 'must not be before "since"');
  return {
    since: toTimestamp(since * 1000),
    // Includes the whole last millisecond, because the timestamps of events have microseconds.
    until: toTimestamp(Math.floor(until) * 1000 + 999),
    firstId: idAt(since - CLOCK_TOLERANCE_MS, '0'),
    lastId: idAt(until + CLOCK_TOLERANCE_MS, 'f'),
    loggedSince: toTimestamp(Math.floor(clock.now() - DELIVERY_RETENTION_MS + CLOCK_TOLERANCE_MS) * 1000),
  };
}

/** Returns the lowest or highest id that begins with this time; see `newId`. */
function idAt(milliseconds: number, digit: '0' | 'f'): string {
  const time = Math.max(0, Math.floor(milliseconds)).toString(16).padStart(12, '0').slice(-12);
  const d = (count: number) => digit.repeat(count);
  return `${time.slice(0, 8)}-${time.slice(8)}-${d(4)}-${d(4)}-${d(12)}`;
}
