import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { ApiError } from '../errors.ts';
import { toTimestamp } from '../http/wire.ts';

type Parts = Pick<Context, 'db' | 'clock'>;

/** From now on its partners see the offer. An offer that is published stays so. */
export function publishOffer(ctx: Parts, slug: string): Promise<boolean> {
  return setOnce(ctx, slug, 'published_at');
}

/** The offer ends now, whatever its planned end. An offer that is closed stays so. */
export function closeOffer(ctx: Parts, slug: string): Promise<boolean> {
  return setOnce(ctx, slug, 'closed_at');
}

/** Whether it was this call that set it. */
async function setOnce(
  { db, clock }: Parts,
  slug: string,
  column: 'published_at' | 'closed_at',
): Promise<boolean> {
  return db.transaction().execute(async (tx: Db) => {
    const now = toTimestamp(clock.micros());
    const { numUpdatedRows } = await tx
      .updateTable('offers')
      .set({ [column]: now, updated_at: now })
      .where('slug', '=', slug)
      .where(column, 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 1n) return true;
    const found = await tx.selectFrom('offers').select('id').where('slug', '=', slug).executeTakeFirst();
    if (found === undefined) throw new ApiError('not_found', {}, { message: `There is no offer ${slug}.` });
    return false;
  });
}
