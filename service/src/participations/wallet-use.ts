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
 * Fails the `prepared` participations that these users made from a wallet that no longer counts as theirs. On
 * Solana, settlement fails them later, once no commit can succeed any more. The new owner of the wallet may
 * then use the approvals.
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
