import type { Event } from './schema.ts';
import type { EventRow } from './store.ts';

/**
 * Renders an event for its partner. If the partner may not read the event, the event keeps its place in the log but is
 * redacted.
 */
export function renderEvent(row: EventRow): Event {
  const place = {
    object: 'event' as const,
    id: row.id,
    type: row.visible ? row.type : 'redacted',
    timestamp: row.inserted_at,
    sequence: Number(row.sequence),
  };
  if (!row.visible) return { ...place, user_id: null, request_id: null, data: {} };
  return {
    ...place,
    user_id: row.user_id,
    request_id: row.request_id,
    data: row.data,
    ...(row.changes !== null && { changes: row.changes }),
    ...(row.related !== null && { related: row.related }),
  };
}
