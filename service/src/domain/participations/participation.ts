import { formatUnits } from 'viem/utils';
import type { Caller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { Chain } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Query } from '../../platform/http/query-string.ts';
import type { Participation } from '../holdings/participation.ts';
import { findParticipation, type ParticipationRow } from '../holdings/participation-store.ts';
import { addIncluded, readParticipationInclude } from './include.ts';

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
