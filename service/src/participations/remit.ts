import type { Context } from '../context.ts';
import { ApiError, invalidField } from '../errors.ts';
import { isId } from '../http/ids.ts';
import { showParticipation } from './participation.ts';
import type { Participation } from './schema.ts';
import { changeStatus } from './status.ts';
import { lockParticipation } from './store.ts';
import { wakeSettlement } from './wake.ts';

/**
 * Requests the refund of a completed participation, or retries a failed refund. Does nothing if the refund is already in
 * progress or paid.
 */
export async function requestRemit(
  ctx: Pick<Context, 'db' | 'clock' | 'random'>,
  id: string,
): Promise<Participation> {
  if (!isId(id)) throw new ApiError('not_found');
  return ctx.db.transaction().execute(async (tx) => {
    const row = await lockParticipation(tx, id);
    if (row === null) throw new ApiError('not_found');
    if (row.status === 'remit_submitted' || row.status === 'remitted') return showParticipation(row);
    const change = {
      ids: [id],
      from: ['completed', 'remit_failed'] as const,
      to: 'remit_submitted' as const,
    };
    if ((await changeStatus(ctx, tx, change)) === 0)
      throw invalidField('status', `is ${row.status}; only completed participations can be refunded`);
    await wakeSettlement(tx, row.chain);
    return showParticipation((await lockParticipation(tx, id)) ?? row);
  });
}
