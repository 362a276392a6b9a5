import type { Caller } from '../../kernel/access.ts';
import { type PageQuery, readPage } from '../../kernel/paging.ts';
import type { EvmChain } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { listIssuedOrders, type OrderRow } from './order-list-store.ts';
import type { SwapOrder } from './schema.ts';

/** Lists the orders whose calldata was issued: those of the user, or with a partner token those of all its users. */
export async function readOrders(ctx: Context, caller: Caller, query: PageQuery) {
  const { partnerId, userId } = caller;
  const page = await readPage(ctx.sealing, `tokenized orders ${partnerId} ${userId}`, query, (keyset) =>
    listIssuedOrders(ctx.db, { partnerId, userId }, keyset),
  );
  return { ...page, data: page.data.map(showOrder) };
}

const STATUSES = { live: 'issued', executed: 'executed', expired: 'expired' } as const;

export function showOrder(row: OrderRow): SwapOrder {
  return {
    object: 'tokenized_swap_order',
    id: row.id,
    symbol: row.symbol,
    side: row.side === 1 ? 'sell' : 'buy',
    chain: row.chain as EvmChain,
    wallet_address: row.wallet,
    amount: row.amount,
    fee: row.fee,
    notional_value: (BigInt(row.amount) - BigInt(row.fee)).toString(),
    receive_output_amount: row.quantity,
    status: STATUSES[row.state],
    transaction_hash: row.transaction_hash === null ? null : `0x${row.transaction_hash.toString('hex')}`,
    expires_at: row.expires_at,
    inserted_at: row.inserted_at,
  };
}
