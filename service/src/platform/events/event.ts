import type { Selectable } from 'kysely';
import { newId } from '../../kernel/ids.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Kernel } from '../context/kernel.ts';
import type { Db } from '../db/pool.ts';
import type { Database } from '../db/tables.ts';
import { insertEvents } from './store.ts';

export type NewEvent = {
  partnerId: string;
  userId: string | null;
  type: string;
  /** Ids, statuses and amounts; never personal data. */
  data: Record<string, unknown>;
  /** The members of `data` that changed, with their previous values. */
  changes?: Record<string, unknown>;
  related?: NonNullable<Selectable<Database['events']>['related']>;
};

/** A command handles no request and cannot signal the nodes, so they find its events by polling. */
export type EventSource = Pick<Kernel, 'clock' | 'random'> &
  Partial<Pick<Kernel, 'eventsAppended' | 'metrics' | 'requestId' | 'requestPartnerId'>>;

export async function appendEvent(source: EventSource, tx: Db, event: NewEvent): Promise<string> {
  const [id = ''] = await appendEvents(source, tx, [event]);
  return id;
}

/** Lock or write the changed rows first; otherwise the order of events from concurrent transactions is undefined. */
export async function appendEvents(
  source: EventSource,
  tx: Db,
  events: readonly NewEvent[],
): Promise<string[]> {
  if (events.length === 0) return [];
  const rows = events.map(({ partnerId, userId, type, data, changes, related }) => ({
    id: newId(source.clock, source.random),
    partner_id: partnerId,
    user_id: userId,
    type,
    data,
    changes: changes ?? null,
    related: related ?? null,
    request_id: (source.requestPartnerId === partnerId && source.requestId) || null,
    inserted_at: toTimestamp(source.clock.micros()),
  }));
  await insertEvents(tx, rows);
  source.eventsAppended?.emit();
  for (const { type } of rows) source.metrics?.events.inc({ type });
  return rows.map(({ id }) => id);
}
