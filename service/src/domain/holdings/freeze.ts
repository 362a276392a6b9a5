import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { type HeldUser, releaseUser } from '../users/hold.ts';
import { endParticipations } from './participation-status.ts';
import { type FrozenParticipation, listHeld, listSanctioned, unfreezeRow } from './participation-store.ts';
import { lockRemainingSupply } from './supply.ts';
import { wakeAllSettlement } from './wake.ts';

type Parts = Pick<Context, 'clock' | 'random'>;

export async function resumeSanctioned(ctx: Parts, tx: Db, wallet: string): Promise<void> {
  await resume(ctx, tx, await listSanctioned(tx, wallet));
}

/** A frozen `pending` row has lost its reserved supply. It reserves its amount again, or fails as sold out. */
async function resume(ctx: Parts, tx: Db, rows: readonly FrozenParticipation[]): Promise<void> {
  for (const row of rows) {
    if (row.status === 'pending' && !(await isSupplied(tx, row)))
      await endParticipations(ctx, tx, [row.id], 'sold_out');
    await unfreezeRow(tx, row.id, ctx.clock);
  }
  await wakeAllSettlement(tx);
}

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
    if (user.wasHeld) await resume(ctx, tx, await listHeld(tx, user.id));
    return user;
  });
}
