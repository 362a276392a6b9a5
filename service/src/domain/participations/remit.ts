import { ApiError, invalidField } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Participation } from '../holdings/participation.ts';
import { lockParticipation } from '../holdings/participation-store.ts';
import { showParticipation } from './participation.ts';
import { type RefundOperator, requestRefunds } from './request-refunds.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

const REFUNDABLE = ['completed', 'remit_failed', 'remit_submitted', 'remitted'];

/**
 * Requests refunds for completed participations, and retries failed refunds. Skips participations that are frozen,
 * belong to a user on hold, or already have a refund that is in progress or paid. Throws, and requests no refund at
 * all, if a participation was never completed or if the operator's limit is exceeded.
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

/**
 * Requests a refund in the sandbox. The sandbox operator has no limit of its own, so only the daily limit recorded by
 * the nodes applies.
 */
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
