import { toTimestamp } from '../../kernel/wire.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvents, type EventSource, type NewEvent } from '../../platform/events/event.ts';
import {
  type ChangedRow,
  insertRow,
  type NewParticipation,
  type StatusChange,
  updateStatus,
} from './participation-store.ts';
import { wakeSettlement } from './wake.ts';

/**
 * Inserts a participation, appends its event and wakes settlement. Returns false if another participation from the same
 * wallet already holds the approval.
 */
export async function insertParticipation(
  parts: EventSource,
  tx: Db,
  row: NewParticipation,
): Promise<boolean> {
  if (!(await insertRow(tx, row, parts.clock))) return false;
  await appendEvents(parts, tx, [eventOf(row)]);
  await wakeSettlement(tx, row.chain);
  return true;
}

/** Updates the rows whose status is in `from`, and appends their events. Returns how many rows changed. */
export async function changeStatus(parts: EventSource, tx: Db, change: StatusChange): Promise<number> {
  const rows = await updateStatus(tx, change, toTimestamp(parts.clock.micros()));
  const events = rows.map((row) => ({ ...eventOf(row), changes: { status: row.previous_status } }));
  await appendEvents(parts, tx, events);
  return rows.length;
}

/**
 * Returns the event for a participation's status. Leaves out the reason, because it can reveal a hold. The API does not
 * show the reason either.
 */
function eventOf(row: ChangedRow): NewEvent {
  const { id, offer_id, offer_option_id, status, amount, asset_id, chain } = row;
  return {
    partnerId: row.partner_id,
    userId: row.user_id,
    type: `participation.${status}`,
    data: {
      object: 'participation',
      ...{ id, offer_id, offer_option_id, status, amount, asset_id, chain },
    },
    related: { object: 'participation', id, path: `/v1/participations/${id}` },
  };
}
