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
  wakeSettlement,
} from './store.ts';

type Source = Pick<Context, 'clock' | 'random'>;

/** False when the approval is used already. The event is appended with it, and the workers are told. */
export async function insertParticipation(source: Source, tx: Db, row: NewParticipation): Promise<boolean> {
  if (!(await insertRow(tx, row))) return false;
  await appendEvents(source, tx, [eventOf(row)]);
  await wakeSettlement(tx, row.chain);
  return true;
}

/** Moves the rows that are in one of the statuses `from`, appends their events, and answers how many there were. */
export async function changeStatus(source: Source, tx: Db, change: StatusChange): Promise<number> {
  const rows = await updateStatus(tx, change, toTimestamp(source.clock.micros()));
  await appendEvents(source, tx, rows.map(eventOf));
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
