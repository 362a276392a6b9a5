import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { type HeldUser, releaseUser } from '../users/hold.ts';
import { endParticipations } from './participation-status.ts';
import { type FrozenParticipation, listHeld, listSanctioned, unfreezeRow } from './participation-store.ts';
import { lockRemainingSupply } from './supply.ts';
import { wakeAllSettlement } from './wake.ts';

type Parts = Pick<Context, 'clock' | 'random'>;

/** Resumes the wallet's participations that were frozen because of sanctions. */
export async function resumeSanctioned(ctx: Parts, tx: Db, wallet: string): Promise<void> {
  await resume(ctx, tx, await listSanctioned(tx, wallet));
}

/** Resumes the participations that were frozen because their user was on hold. */
async function resumeHeld(ctx: Parts, tx: Db, userId: string): Promise<void> {
  await resume(ctx, tx, await listHeld(tx, userId));
}

/**
 * Unfreezes participations. A frozen `pending` row has lost its reserved supply. If enough supply is left, the row
 * reserves its amount again. Otherwise the row fails as sold out.
 */
async function resume(ctx: Parts, tx: Db, rows: readonly FrozenParticipation[]): Promise<void> {
  for (const row of rows) {
    if (row.status === 'pending' && !(await isSupplied(tx, row)))
      await endParticipations(ctx, tx, [row.id], 'sold_out');
    await unfreezeRow(tx, row.id, ctx.clock);
  }
  await wakeAllSettlement(tx);
}

/** Returns whether enough supply is left for the row. Locks the supply until the transaction ends. */
async function isSupplied(
  tx: Db,
  { offer_option_id, amount, asset_digits }: FrozenParticipation,
): Promise<boolean> {
  const remaining = await lockRemainingSupply(tx, offer_option_id, asset_digits);
  return remaining === null || BigInt(amount) <= remaining;
}

/** Ends a hold and resumes the participations that the hold had frozen, as far as the remaining supply allows. */
export async function releaseHold(
  ctx: Parts & Pick<Context, 'db'>,
  emailOrId: string,
  reason: string,
): Promise<HeldUser> {
  return ctx.db.transaction().execute(async (tx) => {
    const user = await releaseUser(ctx, tx, emailOrId, reason);
    if (user.wasHeld) await resumeHeld(ctx, tx, user.id);
    return user;
  });
}
