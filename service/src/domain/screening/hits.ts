import { ApiError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { resumeSanctioned } from '../holdings/freeze.ts';
import { freezeParticipations } from '../holdings/participation-store.ts';
import { toListed } from './list-file.ts';
import {
  clearHits,
  type Finding,
  insertHits,
  lockScreening,
  readAcceptedList,
  withoutCleared,
} from './store.ts';

type Parts = Pick<Context, 'clock' | 'random' | 'log'>;

/** Call it in the transaction that freezes the participations. Returns the findings that had no open hit yet. */
export async function recordHits(
  { clock, random }: Parts,
  tx: Db,
  findings: readonly Finding[],
): Promise<Finding[]> {
  const hits = findings.map((finding) => ({ ...finding, id: newId(clock, random) }));
  return insertHits(tx, hits, toTimestamp(clock.micros()));
}

/** Alerts operators to hits. Logs only ids, never the wallet's address or the person's name. */
export function logHits({ log }: Parts, hits: readonly Finding[]): void {
  for (const { subject, subject_id, user_id } of hits)
    log.error({ subject, subject_id, user_id }, `sanctions hit: ${subject} ${subject_id}`);
}

/**
 * Resumes all participations of the address that sanctions froze. Throws `validation_failed` while it is on the list,
 * because the next screening would find it again. Returns how many hits were open.
 */
export async function clearAddress(
  ctx: Pick<Context, 'db' | 'clock' | 'random'>,
  text: string,
  reason: string,
): Promise<number> {
  const address = toListed(text);
  const { db, clock } = ctx;
  return db.transaction().execute(async (tx) => {
    await lockScreening(tx);
    const list = await readAcceptedList(tx);
    if (list?.addresses.has(address) === true)
      throw new ApiError('validation_failed', {
        address: ['is on the sanctions list; remove it from the file first'],
      });
    const cleared = await clearHits(tx, address, reason, toTimestamp(clock.micros()));
    await resumeSanctioned(ctx, tx, address);
    return cleared;
  });
}

/**
 * Freezes the participations of listed wallets, records a hit for each, and returns the rows of the other wallets.
 * Call this immediately before every signature of a commit or refund. Fee bumps on EVM chains are the exception:
 * `maySign` in `domain/settlement/resign.ts` checks them.
 */
export async function freezeSanctioned<R extends { user: string }>(
  ctx: Parts & Pick<Context, 'db' | 'sanctions'>,
  rows: R[],
): Promise<R[]> {
  const listed = [...new Set(rows.map(({ user }) => user).filter((wallet) => ctx.sanctions.has(wallet)))];
  if (listed.length === 0) return rows;
  const hits = await ctx.db.transaction().execute(async (tx) => {
    await lockScreening(tx);
    const frozen = await freezeParticipations(tx, await withoutCleared(tx, listed));
    return recordHits(
      ctx,
      tx,
      frozen.map((row) => ({ ...row, subject: 'participation' as const })),
    );
  });
  logHits(ctx, hits);
  return rows.filter(({ user }) => !listed.includes(user));
}
