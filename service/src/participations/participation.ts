import { formatUnits } from 'viem/utils';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { Caller } from '../http/access.ts';
import { isId } from '../http/ids.ts';
import type { Query } from '../http/query-string.ts';
import type { Chain } from '../http/wire.ts';
import { addIncluded, readParticipationInclude } from './include.ts';
import type { Participation } from './schema.ts';
import { findParticipation, type ParticipationRow } from './store.ts';

export async function readParticipation(
  ctx: Context,
  caller: Caller,
  id: string,
  query: Query,
): Promise<Participation> {
  const include = readParticipationInclude(caller, query);
  const row = isId(id) ? await findParticipation(ctx.db, caller, id) : null;
  if (row === null) throw new ApiError('not_found');
  const [shown] = await addIncluded(ctx, caller, include, [showParticipation(row)]);
  return shown ?? showParticipation(row);
}

export function showParticipation(row: ParticipationRow): Participation {
  return {
    object: 'participation',
    id: row.id,
    offer_id: row.offer_id,
    offer_option_id: row.offer_option_id,
    status: row.status,
    amount: row.amount,
    amount_string: formatUnits(BigInt(row.amount), row.asset_digits),
    asset: {
      id: row.asset_id,
      code: row.asset_code,
      name: row.asset_name,
      fractional_digits: row.asset_digits,
    },
    chain: row.chain as Chain,
    wallet_address: row.wallet_address,
    inserted_at: row.inserted_at,
    updated_at: row.updated_at,
  };
}
