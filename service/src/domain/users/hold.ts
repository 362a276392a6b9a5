import { invalidField } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { requireUser } from './account.ts';
import { endHold, insertHold, listHolds } from './store.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

export type HeldUser = { id: string; email: string; isHeld: boolean };
export type Hold = Awaited<ReturnType<typeof listHolds>>[number];

const MAX_REASON_LENGTH = 1_000;

/** The reason is for operators only. */
export async function holdUser(ctx: Parts, emailOrId: string, reason: string): Promise<HeldUser> {
  assertReason(reason);
  return ctx.db.transaction().execute(async (tx) => {
    const user = await requireUser(tx, emailOrId);
    const now = toTimestamp(ctx.clock.micros());
    await insertHold(tx, { id: newId(ctx.clock, ctx.random), user_id: user.id, reason, held_at: now });
    return { ...user, isHeld: true };
  });
}

export async function releaseUser(
  { clock }: Pick<Parts, 'clock'>,
  tx: Db,
  emailOrId: string,
  reason: string,
): Promise<HeldUser & { wasHeld: boolean }> {
  assertReason(reason);
  const user = await requireUser(tx, emailOrId);
  const wasHeld = await endHold(tx, user.id, reason, toTimestamp(clock.micros()));
  return { ...user, isHeld: false, wasHeld };
}

export async function showHolds(
  { db }: Pick<Parts, 'db'>,
  emailOrId: string,
): Promise<HeldUser & { holds: Hold[] }> {
  return db.transaction().execute(async (tx) => {
    const user = await requireUser(tx, emailOrId);
    const holds = await listHolds(tx, user.id);
    return { ...user, isHeld: holds.some(({ released_at }) => released_at === null), holds };
  });
}

function assertReason(reason: string): void {
  if (reason.trim() === '' || reason.length > MAX_REASON_LENGTH)
    throw invalidField('reason', `must have 1 to ${MAX_REASON_LENGTH} characters`);
}
