import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { appendEvents } from '../events/event.ts';
import { toTimestamp } from '../http/wire.ts';
import {
  type ChangedRow,
  insertRow,
  type NewParticipation,
  type StatusChange,
  updateStatus,
} from './store.ts';
import { wakeSettlement } from './wake.ts';

type Parts = Pick<Context, 'clock' | 'random'>;

/** Inserts a participation, appends its event and wakes settlement. Returns false if the approval is already used. */
export async function insertParticipation(parts: Parts, tx: Db, row: NewParticipation): Promise<boolean> {
  if (!(await insertRow(tx, row))) return false;
  await appendEvents(parts, tx, [eventOf(row)]);
  await wakeSettlement(tx, row.chain);
  return true;
}

/** Updates the rows that have one of the statuses `from` and appends their events. Returns how many changed. */
export async function changeStatus(parts: Parts, tx: Db, change: StatusChange): Promise<number> {
  const rows = await updateStatus(tx, change, toTimestamp(parts.clock.micros()));
  await appendEvents(parts, tx, rows.map(eventOf));
  return rows.length;
}

function eventOf(row: ChangedRow) {
  const { id, offer_id, offer_option_id, status, reason, amount, asset_id, chain } = row;
  return {
    partnerId: row.partner_id,
    userId: row.user_id,
    type: `participation.${status}`,
    data: {
      object: 'participation',
      ...{ id, offer_id, offer_option_id, status, amount, asset_id, chain },
      ...(reason === null ? {} : { reason }),
    },
  };
}
