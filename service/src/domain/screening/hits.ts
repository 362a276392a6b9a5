import { ApiError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { resumeSanctioned } from '../holdings/freeze.ts';
import { toListed } from './list-file.ts';
import { clearHits, type Finding, insertHits, lockScreening, readAcceptedList } from './store.ts';

type Parts = Pick<Context, 'clock' | 'random' | 'log'>;

/**
 * Records the findings of a screening as hits, in the transaction that freezes the affected participations. Skips
 * findings that already have an open hit. Returns the recorded findings.
 */
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
 * Clears an address's open hits and resumes all its participations that sanctions froze, at an operator's request.
 * Returns how many hits were open. Throws `validation_failed` while the address is on the sanctions list, because the
 * next screening would find the address again.
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
