import type { Context } from '../../platform/context/context.ts';
import { openFacts } from '../pii/sealed-data.ts';
import { toFacts } from './facts.ts';
import type { UserFacts } from './status.ts';
import * as store from './store.ts';

export type FactsOfUser = { isHeld: boolean; facts: UserFacts };

type Parts = Pick<Context, 'pool' | 'sealing' | 'config'>;

const BATCH_SIZE = 5_000;
const BEFORE_ALL_IDS = '00000000-0000-0000-0000-000000000000';

/** Returns how many users `readAllFacts` yields. */
export function countUsers({ db }: Pick<Context, 'db'>): Promise<number> {
  return store.countUsers(db);
}

/** Reads the facts of every user in batches. The next batch is read while the caller works on the current one. */
export async function* readAllFacts(
  { pool, sealing, config }: Parts,
  optionIds: readonly string[],
): AsyncGenerator<FactsOfUser[]> {
  const parts = { config, openPiiFacts: (id: string, sealed: Buffer) => openFacts(sealing, id, sealed) };
  const read = (after: string) => store.listNextFacts(pool, after, optionIds, BATCH_SIZE);
  let next = read(BEFORE_ALL_IDS);
  for (;;) {
    const rows = await next;
    const last = rows.at(-1);
    if (last === undefined) return;
    next = read(last.id);
    // The next iteration awaits `next`. If `next` rejects before that, the rejection must not count as unhandled.
    next.catch(() => undefined);
    yield rows.map((row) => ({ isHeld: row.is_held, facts: toFacts(parts, row.id, row) }));
  }
}
