import type { Context } from '../context.ts';
import { ApiError, invalidField } from '../errors.ts';
import { isId, newId } from '../http/ids.ts';
import {
  confirmRequest,
  findRefundRequest,
  insertRefundRequest,
  lockOperator,
  type RefundRequest,
  sumRefundable,
} from './refund-store.ts';
import { changeStatus } from './status.ts';
import { wakeAllSettlement } from './wake.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

/** The person who requests or confirms refunds, and what they may request alone in 24 hours; null = no limit. */
export type RefundOperator = { name: string; limitUsd: number | null };

const BATCH_ROWS = 500;

/**
 * Requests refunds of completed participations, and retries failed refunds. The only way to request a refund. Above the
 * operator's daily limit it stores the request, which another person must confirm with `confirmRefunds`, and throws
 * `validation_failed`. Returns how many refunds were requested.
 */
export async function requestRefunds(
  ctx: Parts,
  { name, limitUsd }: RefundOperator,
  participationIds: readonly string[],
  onProgress: (done: number) => void = () => undefined,
): Promise<number> {
  const id = newId(ctx.clock, ctx.random);
  const { ids, amountUsd, state } = await ctx.db.transaction().execute(async (tx) => {
    await lockOperator(tx, name);
    const found = await sumRefundable(tx, participationIds);
    if (found.ids.length === 0) return { ...found, state: 'allowed' };
    const request = { id, operator: name, participationIds: found.ids, amountUsd: found.amountUsd };
    return { ...found, state: await insertRefundRequest(tx, request, limitUsd) };
  });
  if (state === 'unconfirmed')
    throw invalidField(
      'amount',
      `is ${amountUsd} USD, which exceeds what ${name} may refund alone in 24 hours (${limitUsd} USD); another person has to confirm request ${id}`,
    );
  return changeAll(ctx, ids, onProgress);
}

/** Returns a request of the last 24 hours. Throws `not_found`. */
export async function readRefundRequest({ db }: Pick<Parts, 'db'>, id: string): Promise<RefundRequest> {
  const found = isId(id) ? await findRefundRequest(db, id) : null;
  if (found === null) throw new ApiError('not_found');
  return found;
}

/**
 * Confirms a request of another person and requests its refunds. If a run is interrupted, repeating it
 * requests the remaining refunds. Throws `validation_failed` if the same person confirms. Returns how many
 * refunds were requested.
 */
export async function confirmRefunds(
  ctx: Parts,
  name: string,
  id: string,
  onProgress: (done: number) => void = () => undefined,
): Promise<number> {
  const request = await readRefundRequest(ctx, id);
  if (request.operator === name)
    throw invalidField('operator', `is ${name}, who requested the refunds; another person has to confirm`);
  const isConfirmed = await ctx.db.transaction().execute(async (tx) => {
    await lockOperator(tx, request.operator);
    return confirmRequest(tx, id, name);
  });
  if (!isConfirmed && (await readRefundRequest(ctx, id)).state !== 'confirmed')
    throw invalidField('state', 'is allowed; the request needs no confirmation');
  return changeAll(ctx, request.participationIds, onProgress);
}

/** Each batch is its own transaction, so that an interrupted run continues where it stopped. */
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
      const changed = await changeStatus(ctx, tx, { ids, from, to: 'remit_submitted' });
      await wakeAllSettlement(tx);
      return changed;
    });
    onProgress(done);
  }
  return done;
}
