import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { endParticipations } from './end.ts';
import { hasUnsettled, listOfWallet } from './store.ts';

/** Returns whether one of the users has a `pending` or `submitted` participation with the partner from this wallet. */
export async function hasOpenParticipation(
  tx: Db,
  partnerId: string,
  wallet: string,
  userIds: readonly string[],
): Promise<boolean> {
  return (await listOfWallet(tx, partnerId, wallet, userIds, ['pending', 'submitted'])).length > 0;
}

/**
 * Fails the `prepared` participations of these users from a wallet that another user has proven. On Solana, settlement
 * fails the participations later, once a commit can no longer succeed. The failure releases the approvals, so that the
 * new owner of the wallet can use them.
 */
export async function failPreparedOf(
  ctx: Pick<Context, 'clock' | 'random'>,
  tx: Db,
  partnerId: string,
  wallet: string,
  userIds: readonly string[],
): Promise<void> {
  const ids = await listOfWallet(tx, partnerId, wallet, userIds, ['prepared']);
  await endParticipations(ctx, tx, ids, 'wallet_not_proven');
}

/** Returns whether money may still move for a participation of the user. */
export function hasUnsettledParticipation(tx: Db, userId: string): Promise<boolean> {
  return hasUnsettled(tx, userId);
}
