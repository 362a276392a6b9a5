import type { Db } from '../../platform/db/pool.ts';
import { showOrder } from './order-list.ts';
import { listOrdersOf } from './order-list-store.ts';
import type { SwapOrder } from './schema.ts';

/** Returns the user's orders as the API shows them. */
export async function exportUser(db: Db, userId: string): Promise<SwapOrder[]> {
  return (await listOrdersOf(db, userId)).map(showOrder);
}
