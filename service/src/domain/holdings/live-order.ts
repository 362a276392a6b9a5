import type { Db } from '../../platform/db/pool.ts';
import { countLiveOrders, countLiveOrdersOf } from './order-store.ts';

/** Returns whether any of the users has an order from this wallet, with this partner, that may still be executed. */
export async function hasLiveOrder(
  tx: Db,
  partnerId: string,
  wallet: string,
  userIds: readonly string[],
  now: string,
): Promise<boolean> {
  return (await countLiveOrders(tx, { partnerId, wallet, userIds, now })) > 0;
}

/** Returns whether the user has any order that may still be executed. */
export async function hasAnyLiveOrder(tx: Db, userId: string, now: string): Promise<boolean> {
  return (await countLiveOrdersOf(tx, userId, now)) > 0;
}
