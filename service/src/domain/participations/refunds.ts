import { ApiError, invalidField } from '../../kernel/errors.ts';
import { isId, newId } from '../../kernel/ids.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { rehearse } from '../../platform/db/rehearse.ts';
import type { Participation } from '../holdings/participation.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { freezeHeld, lockParticipation } from '../holdings/participation-store.ts';
import { wakeAllSettlement } from '../holdings/wake.ts';
import { lockHeldUsers } from '../users/store.ts';
import { showParticipation } from './participation.ts';
import {
  confirmRequest,
  findRefundLimit,
  findRefundRequest,
  insertRefundRequest,
  listRefundUsers,
  lockOperator,
  type RefundRequest,
  sumRefundable,
} from './refund-store.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

/**
 * `limitUsd` is how much this person may request in 24 hours before another person has to confirm. Null: no limit.
 */
export type RefundOperator = { name: string; limitUsd: number | null };

const BATCH_ROWS = 500;

type RefundDecision = {
  id: string;
  ids: string[];
  amountUsd: string;
  refusal: string | null;
};

/**
 * Every refund starts here. If the request exceeds the operator's daily limit, only stores it and throws
 * `validation_failed`; another person can then confirm it with `confirmRefunds`. Skips frozen participations, and
 * freezes those of users on hold, whose refund must be requested again later. Returns how many refunds were
 * requested.
 */
export async function requestRefunds(
  ctx: Parts,
  operator: RefundOperator,
  participationIds: readonly string[],
  onProgress: (done: number) => void = () => undefined,
): Promise<number> {
  const { id, ids, refusal } = await decide(ctx, operator, participationIds);
  if (refusal !== null)
    throw invalidField('amount', `${refusal}; another person has to confirm request ${id}`);
  const counted = new Set(ids);
  // `others` were not counted towards the limit, so they must not be refunded now, even if the hold has ended in the
  // meantime. Those whose user is still on hold are frozen, to record why they were not refunded.
  const others = participationIds.filter((each) => !counted.has(each));
  if (others.length > 0) await ctx.db.transaction().execute((tx) => keepUnheld(tx, others));
  return changeAll(ctx, ids, onProgress);
}

/** Returns the outcome that `requestRefunds` would have. Changes nothing. */
export function planRefundRequest(
  ctx: Parts,
  operator: RefundOperator,
  participationIds: readonly string[],
): Promise<RefundDecision> {
  return rehearse(ctx.db, (db) => decide({ ...ctx, db }, operator, participationIds));
}

/**
 * Applies the lower of two limits: the one in the command's environment, which the operator can change, and the one
 * recorded by the nodes, which the operator cannot.
 */
async function decide(
  { db, clock, random }: Parts,
  { name, limitUsd: own }: RefundOperator,
  participationIds: readonly string[],
): Promise<RefundDecision> {
  const id = newId(clock, random);
  return db.transaction().execute(async (tx) => {
    await lockOperator(tx, name);
    const { ids, amountUsd } = await sumRefundable(tx, participationIds);
    const limits = [own, await findRefundLimit(tx)].filter((limit) => limit !== null);
    const limitUsd = limits.length === 0 ? null : Math.min(...limits);
    const state =
      ids.length === 0
        ? 'allowed'
        : await insertRefundRequest(tx, { id, operator: name, participationIds: ids, amountUsd }, limitUsd);
    const text = `is ${amountUsd} USD. Together with the other refunds that ${name} requested in the last 24 hours, this exceeds what ${name} may refund alone (${limitUsd} USD)`;
    return { id, ids, amountUsd, refusal: state === 'unconfirmed' ? text : null };
  });
}

/** Returns a request from the last 24 hours. Throws `not_found` if no such request has this id. */
async function readRefundRequest({ db }: Pick<Parts, 'db'>, id: string): Promise<RefundRequest> {
  const found = isId(id) ? await findRefundRequest(db, id) : null;
  if (found === null) throw new ApiError('not_found');
  return found;
}

/**
 * Throws `validation_failed` if the person who made the request tries to confirm it. If a call is interrupted, the
 * next call requests the remaining refunds.
 */
export async function confirmRefunds(
  ctx: Parts,
  name: string,
  id: string,
  onProgress: (done: number) => void = () => undefined,
): Promise<number> {
  const { participationIds } = await acceptRequest(ctx, name, id);
  return changeAll(ctx, participationIds, onProgress);
}

/** A request, the participations in it that can still be refunded, and the sum of their amounts. */
type ConfirmationPlan = { request: RefundRequest; ids: string[]; amountUsd: string };

/** Makes the same checks as `confirmRefunds`, but changes nothing and locks no participations. */
export function planConfirmation(ctx: Parts, name: string, id: string): Promise<ConfirmationPlan> {
  return rehearse(ctx.db, async (db) => {
    const request = await acceptRequest({ ...ctx, db }, name, id);
    return { request, ...(await sumRefundable(db, request.participationIds)) };
  });
}

async function acceptRequest(ctx: Parts, name: string, id: string): Promise<RefundRequest> {
  const request = await readRefundRequest(ctx, id);
  if (request.operator === name)
    throw invalidField('operator', `is ${name}, who requested the refunds; another person has to confirm`);
  const isConfirmed = await ctx.db.transaction().execute(async (tx) => {
    await lockOperator(tx, request.operator);
    return confirmRequest(tx, id, name);
  });
  if (!isConfirmed && (await readRefundRequest(ctx, id)).state !== 'confirmed')
    throw invalidField('state', 'is "allowed": the request did not need a confirmation');
  return request;
}

/**
 * Returns the participations that were not frozen: a frozen one must not become `remit_submitted`, because its refund
 * would not be sent.
 */
async function keepUnheld(tx: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await listRefundUsers(tx, ids);
  const held = new Set(await lockHeldUsers(tx, [...new Set(rows.map(({ user_id }) => user_id))]));
  const frozen = rows.filter(({ user_id }) => held.has(user_id));
  if (frozen.length > 0)
    await freezeHeld(
      tx,
      frozen.map(({ id }) => id),
    );
  return rows.filter(({ user_id }) => !held.has(user_id)).map(({ id }) => id);
}

/** One transaction per batch, so that an interrupted run keeps its finished batches. */
async function changeAll(
  ctx: Parts,
  participationIds: readonly string[],
  onProgress: (done: number) => void,
): Promise<number> {
  let done = 0;
  for (let start = 0; start < participationIds.length; start += BATCH_ROWS) {
    const ids = participationIds.slice(start, start + BATCH_ROWS);
    done += await ctx.db.transaction().execute(async (tx) => {
      const from = ['completed', 'remit_failed'] as const;
      const unfrozen = await keepUnheld(tx, ids);
      const changed = await changeStatus(ctx, tx, { ids: unfrozen, from, to: 'remit_submitted' });
      await wakeAllSettlement(tx);
      return changed;
    });
    onProgress(done);
  }
  return done;
}

const REFUNDABLE = ['completed', 'remit_failed', 'remit_submitted', 'remitted'];

/**
 * Skips participations that are frozen, belong to a user on hold, or already have a refund in progress or paid.
 * Requests no refund at all if one was never completed or if the operator's limit is exceeded.
 */
export async function remitParticipations(
  ctx: Parts,
  operator: RefundOperator,
  ids: readonly string[],
): Promise<Participation[]> {
  for (const { id, status } of await readAll(ctx, ids))
    if (!REFUNDABLE.includes(status))
      throw invalidField(
        'status',
        `participation ${id} is ${status}; only completed participations can be refunded`,
      );
  await requestRefunds(ctx, operator, ids);
  return readAll(ctx, ids);
}

/** The sandbox operator has no limit of its own, only the daily limit recorded by the nodes. */
export async function requestRemit(ctx: Parts, id: string): Promise<Participation> {
  const [participation] = await remitParticipations(ctx, { name: 'sandbox', limitUsd: null }, [id]);
  if (participation === undefined) throw new ApiError('not_found');
  return participation;
}

async function readAll({ db }: Parts, ids: readonly string[]): Promise<Participation[]> {
  const rows = await Promise.all(ids.map((id) => (isId(id) ? lockParticipation(db, id) : null)));
  return rows.map((row) => {
    if (row === null) throw new ApiError('not_found');
    return showParticipation(row);
  });
}
