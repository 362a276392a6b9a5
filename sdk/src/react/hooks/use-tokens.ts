import { queries } from '../../queries.ts';
import type { TokenAllowance, TokenBalance } from '../../wire.ts';
import { type HookOptions, type OptionalParams, type QueryResult, useQueryOf } from './use-query.ts';

/**
 * Returns the amount of a token that `spender` may take from `owner`, in the token's smallest unit.
 *
 * @example
 * ```tsx
 * import { useTokenAllowance } from '@causeway/sdk/react';
 *
 * function Allowance(params: { token_address: string; owner: string; spender: string }) {
 *   return <p>{useTokenAllowance({ ...params, chain: 'base_sepolia' }).data?.allowance}</p>;
 * }
 * ```
 */
export function useTokenAllowance(
  params: OptionalParams<'tokenAllowance'>,
  options?: HookOptions<TokenAllowance>,
): QueryResult<TokenAllowance> {
  return useQueryOf(queries.tokenAllowance, params, options);
}

/**
 * Returns the amount of a token that an address holds, in the token's smallest unit.
 *
 * @example
 * ```tsx
 * import { formatAmount } from '@causeway/sdk';
 * import { useTokenBalance } from '@causeway/sdk/react';
 *
 * function Balance({ token, owner }: { token: string; owner: string }) {
 *   const { data } = useTokenBalance({ token_address: token, owner, chain: 'base_sepolia' });
 *   return <p>{data && formatAmount(data.balance, 6)}</p>;
 * }
 * ```
 */
export function useTokenBalance(
  params: OptionalParams<'tokenBalance'>,
  options?: HookOptions<TokenBalance>,
): QueryResult<TokenBalance> {
  return useQueryOf(queries.tokenBalance, params, options);
}
