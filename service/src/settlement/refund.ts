import { sql } from 'kysely';
import { nameRevert } from '../chain/evm/revert.ts';
import { encodeRemit } from '../chain/evm/sale-fund.ts';
import type { Context } from '../context.ts';
import { ApiError, invalidField } from '../errors.ts';
import { isId } from '../http/ids.ts';
import { RELEASE_BLOCKS } from '../operator/follow.ts';
import { sendCall } from '../operator/sender.ts';
import { showParticipation } from '../participations/participation.ts';
import type { Participation } from '../participations/schema.ts';
import { changeStatus } from '../participations/status.ts';
import { lockParticipation, wakeSettlement } from '../participations/store.ts';
import { estimateGas, orHoldBack } from './commit.ts';
import type { Worker } from './round.ts';
import { listToRemit, type WorkRow } from './store.ts';

const MAX_ROWS = 50;

/**
 * Asks for the refund of a completed participation, or again for one that failed. Asked while it is under way or done,
 * it changes nothing.
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
      throw invalidField('status', `is ${row.status}; only what is completed can be refunded`);
    await wakeSettlement(tx, row.chain);
    return showParticipation((await lockParticipation(tx, id)) ?? row);
  });
}

/** Sends the oldest refunds of one fund, option and token. Answers how many rows it moved on. */
export async function remitNext(worker: Worker): Promise<number> {
  const { ctx, operator, following } = worker;
  // As far as this round has looked: what was mined since may have taken the place of a commit.
  if (following.head === null) return 0;
  const depths = {
    committedBelow: following.head.number + 2n - BigInt(operator.chain.facts.refundDepth),
    releasedBelow: following.head.number - RELEASE_BLOCKS,
  };
  const rows = await listToRemit(ctx.db, operator.chain.name, depths, MAX_ROWS);
  const [first] = rows;
  if (first === undefined) return 0;
  return orHoldBack(worker, rows, () => sendTogetherOrAlone(worker, rows, first));
}

async function sendTogetherOrAlone(worker: Worker, rows: WorkRow[], first: WorkRow): Promise<number> {
  const { ctx } = worker;
  // All or nothing on chain: where they cannot go together, each goes alone and fails alone.
  if (rows.length > 1 && (await sendRemit(worker, rows)) === null) return rows.length;
  const revert = await sendRemit(worker, [first]);
  if (revert !== null)
    await ctx.db.transaction().execute((tx) =>
      changeStatus(ctx, tx, {
        ids: [first.id],
        from: ['remit_submitted'],
        to: 'remit_failed',
        reason: revert,
      }),
    );
  return 1;
}

/** Null when it was sent; else why it would revert, and nothing was. */
async function sendRemit({ operator, lease }: Worker, rows: WorkRow[]): Promise<string | null> {
  const [first] = rows;
  if (first === undefined) return null;
  const data = encodeRemit(rows);
  const estimate = await estimateGas(operator, first.fund, data, 'remit');
  if ('revert' in estimate) return nameRevert(estimate.revert);
  const call = { kind: 'remit' as const, target: first.fund, data, gas: (estimate.gas * 3n) / 2n };
  await sendCall(operator, lease(), call, async (tx, id) => {
    const { numAffectedRows } = await sql`
      update participations p set remit_id = ${id}, remit_row = n.row - 1
      from unnest(${rows.map((row) => row.id)}::uuid[]) with ordinality as n (id, row)
      where p.id = n.id and p.status = 'remit_submitted'`.execute(tx);
    if (numAffectedRows !== BigInt(rows.length)) throw new Error('a refund was moved by somebody else');
  });
  return null;
}
