import type { Context } from '../../platform/context/context.ts';
import { freezeParticipations } from '../holdings/freeze.ts';
import { logHits, recordHits } from './hits.ts';
import { lockScreening, withoutCleared } from './store.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random' | 'log' | 'sanctions'>;

/**
 * Checks the wallets of the participations in `rows` (member `user`) against the sanctions list. Freezes the
 * participations of listed wallets, except for failed and refunded ones, and records a hit for each newly frozen
 * participation. Returns the rows of the other wallets. Call this immediately before every signature of a commit or
 * refund transaction. Fee bumps on EVM chains are the exception: `maySign` in `domain/settlement/resign.ts` checks them.
 */
export async function freezeSanctioned<R extends { user: string }>(ctx: Parts, rows: R[]): Promise<R[]> {
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
