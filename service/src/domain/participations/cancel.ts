import { ApiError, invalidField } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Participation } from '../holdings/participation.ts';
import { endParticipations } from '../holdings/participation-status.ts';
import { lockParticipation, resetCheck } from '../holdings/participation-store.ts';
import { wakeSettlement } from '../holdings/wake.ts';
import { showParticipation } from './participation.ts';
import type { RefundOperator } from './refunds.ts';
import { remitParticipations } from './refunds.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

/**
 * Cancels a participation for which nothing has been signed yet. On Solana, settlement marks it as failed later; see
 * `endParticipations`. Throws for every other status: money may already have moved, and then only a refund is
 * possible.
 */
export async function cancelParticipation(ctx: Parts, id: string): Promise<Participation> {
  if (!isId(id)) throw new ApiError('not_found');
  return ctx.db.transaction().execute(async (tx) => {
    const row = await lockParticipation(tx, id);
    if (row === null) throw new ApiError('not_found');
    if (row.status !== 'prepared' && row.status !== 'pending')
      throw invalidField(
        'status',
        `participation ${id} is ${row.status}; only prepared and pending participations can be cancelled`,
      );
    await endParticipations(ctx, tx, [id], 'cancelled');
    return showParticipation((await lockParticipation(tx, id)) ?? row);
  });
}

/** Tells settlement to check a waiting participation immediately. Requests a failed refund again. */
export async function retryParticipation(
  ctx: Parts,
  operator: RefundOperator,
  id: string,
): Promise<Participation> {
  if (!isId(id)) throw new ApiError('not_found');
  const row = await ctx.db.transaction().execute(async (tx) => {
    const found = await lockParticipation(tx, id);
    if (found === null) throw new ApiError('not_found');
    if (!['prepared', 'pending', 'remit_submitted', 'remit_failed'].includes(found.status))
      throw invalidField('status', `participation ${id} is ${found.status}; there is nothing to retry`);
    await resetCheck(tx, id);
    await wakeSettlement(tx, found.chain);
    return found;
  });
  if (row.status !== 'remit_failed') return showParticipation(row);
  const [retried] = await remitParticipations(ctx, operator, [id]);
  return retried ?? showParticipation(row);
}
