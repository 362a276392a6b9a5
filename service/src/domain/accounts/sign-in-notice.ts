import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { writeNotice } from '../notices/notice.ts';
import { rememberSource, type Source } from './throttle.ts';

/** Marks the browser as known, in the same transaction as the sign-in. Notifies the user if the browser is new. */
export async function noteSignIn(
  ctx: Context,
  tx: Db,
  user: { id: string; email: string },
  source: Source,
): Promise<void> {
  const { isNew, device } = await rememberSource({ ...ctx, db: tx }, user.email, source);
  if (isNew) await writeNotice(tx, user.id, 'signed_in', device, { at: ctx.clock.now() });
}
