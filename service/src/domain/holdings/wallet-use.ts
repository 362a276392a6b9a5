import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { endParticipations } from './end.ts';
import { hasUnsettled, listOfWallet } from './participation-store.ts';

/**
 * Returns whether any of these users has a `pending` or `submitted` participation that pays from this wallet and
 * belongs to this partner.
 */
export async function hasOpenParticipation(
  tx: Db,
  partnerId: string,
  wallet: string,
  userIds: readonly string[],
): Promise<boolean> {
  return (await listOfWallet(tx, partnerId, wallet, userIds, ['pending', 'submitted'])).length > 0;
}

/**
 * Marks as failed these users' `prepared` participations that pay from this wallet, because another user has proven
 * ownership of the wallet. A failed participation releases its approval, so that the wallet's new owner can use that
 * approval. On Solana, settlement changes the status later, once no commit for these participations can succeed.
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

/** Returns whether the user has a participation for which money may still move. */
export function hasUnsettledParticipation(tx: Db, userId: string): Promise<boolean> {
  return hasUnsettled(tx, userId);
}
