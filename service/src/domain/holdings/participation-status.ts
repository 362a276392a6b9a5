import { SOLANA_CHAIN_NAMES } from '../../kernel/chains.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvents, type EventSource, type NewEvent } from '../../platform/events/event.ts';
import { insertParticipationNotices } from '../notices/store.ts';
import {
  type ChangedRow,
  insertRow,
  listOfWallet,
  markEnding,
  type NewParticipation,
  releaseApprovals,
  type StatusChange,
  type UpdatedRow,
  updateStatus,
} from './participation-store.ts';
import { wakeSettlement } from './wake.ts';

/**
 * Appends its event, tells the user if it is accepted, and wakes settlement. Returns false if another participation
 * from the same wallet already holds the approval.
 */
export async function insertParticipation(
  parts: EventSource,
  tx: Db,
  row: NewParticipation,
): Promise<boolean> {
  if (!(await insertRow(tx, row, parts.clock))) return false;
  await appendEvents(parts, tx, [eventOf(row)]);
  if (row.status === 'pending') await insertParticipationNotices(tx, [row.id]);
  await wakeSettlement(tx, row.chain);
  return true;
}

/** Updates the rows whose status is in `from`, appends their events and tells their users. Returns how many rows changed. */
export async function changeStatus(parts: EventSource, tx: Db, change: StatusChange): Promise<number> {
  const rows = await updateStatus(tx, change, toTimestamp(parts.clock.micros()));
  const events = rows.map((row) => ({ ...eventOf(row), changes: { status: row.previous_status } }));
  await appendEvents(parts, tx, events);
  await insertParticipationNotices(
    tx,
    rows.filter(isTold).map(({ id }) => id),
  );
  return rows.length;
}

/** Whether the user gets a mail about the change. A failure is worth one only if the participation had been accepted. */
function isTold({ previous_status: before, status }: UpdatedRow): boolean {
  if (status === 'failed') return before === 'pending' || before === 'submitted';
  return status !== before && ['pending', 'completed', 'remitted'].includes(status);
}

/** Leaves out the reason, because it can reveal a hold. The API does not show it either. */
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

type Parts = Pick<Context, 'clock' | 'random'>;

/**
 * On EVM chains, marks prepared and pending participations as failed. On Solana, only as ending: nothing more is sent
 * for them, and settlement fails them later. A database restored from a backup may lack a commit that was already
 * sent. On Solana, it may still land, and only settlement can tell when it no longer can; on EVM chains, the
 * operator's nonce reveals it, and reconciliation records it in the failed row.
 */
export async function endParticipations(
  parts: Parts,
  tx: Db,
  ids: readonly string[],
  reason: string,
): Promise<void> {
  const marked = await markEnding(tx, ids, SOLANA_CHAIN_NAMES, reason);
  const markedIds = new Set(marked.map(({ id }) => id));
  await failParticipations(
    parts,
    tx,
    ids.filter((id) => !markedIds.has(id)),
    reason,
  );
  for (const chain of new Set(marked.map((row) => row.chain))) await wakeSettlement(tx, chain);
}

/** Call it only if no commit for them can succeed any more. Returns how many changed. */
export async function failParticipations(
  parts: Parts,
  tx: Db,
  ids: readonly string[],
  reason: string,
): Promise<number> {
  await releaseApprovals(tx, ids);
  return changeStatus(parts, tx, { ids, from: ['prepared', 'pending'], to: 'failed', reason });
}

/** Whether a `pending` or `submitted` participation of these users with this partner pays from this wallet. */
export async function hasOpenParticipation(
  tx: Db,
  partnerId: string,
  wallet: string,
  userIds: readonly string[],
): Promise<boolean> {
  return (await listOfWallet(tx, partnerId, wallet, userIds, ['pending', 'submitted'])).length > 0;
}

/**
 * Another user has proven ownership of the wallet. A failed participation releases its approval, so that the new
 * owner can use it. On Solana, settlement changes the status later, once no commit can succeed.
 */
export async function failPreparedOf(
  ctx: Pick<Context, 'clock' | 'random'>,
  tx: Db,
  partnerId: string,
  wallet: string,
  userIds: readonly string[],
): Promise<void> {
  const ids = await listOfWallet(tx, partnerId, wallet, userIds, ['prepared']);
  await endParticipations(ctx, tx, ids, 'wallet_not_proven');
}
