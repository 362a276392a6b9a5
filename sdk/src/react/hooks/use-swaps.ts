import { queries } from '../../queries.ts';
import type { SwapOutputToken, SwapPreview, SwapStatus, WalletAuthorization } from '../../wire.ts';
import { type HookOptions, type OptionalParams, type QueryResult, useQueryOf } from './use-query.ts';

/**
 * Returns what a swap would pay out now. Sends no request while `params` is null or undefined.
 *
 * @example
 * ```tsx
 * import { useSwapPreview } from '@causeway/sdk/react';
 *
 * function Preview({ swap, token }: { swap: string; token: string }) {
 *   const { data } = useSwapPreview(
 *     { contract_address: swap, chain: 'ethereum_sepolia', input_token: token, amount: '1000000' },
 *     { pollIntervalMs: 10_000 },
 *   );
 *   return <p>{data?.receive_output_amount}</p>;
 * }
 * ```
 */
export function useSwapPreview(
  params: OptionalParams<'swapPreview'>,
  options?: HookOptions<SwapPreview>,
): QueryResult<SwapPreview> {
  return useQueryOf(queries.swapPreview, params, options);
}

/**
 * Returns the token that a swap pays out.
 *
 * @example
 * ```tsx
 * import { useSwapOutputToken } from '@causeway/sdk/react';
 *
 * function Symbol({ swap }: { swap: string }) {
 *   return <b>{useSwapOutputToken({ contract_address: swap, chain: 'ethereum_sepolia' }).data?.symbol}</b>;
 * }
 * ```
 */
export function useSwapOutputToken(
  params: OptionalParams<'swapOutputToken'>,
  options?: HookOptions<SwapOutputToken>,
): QueryResult<SwapOutputToken> {
  return useQueryOf(queries.swapOutputToken, params, options);
}

/**
 * Returns the stop flags of a swap. The swap is stopped if `stopped` and `swap_level` have a bit in common.
 *
 * @example
 * ```tsx
 * import { useSwapStatus } from '@causeway/sdk/react';
 *
 * function Open({ swap }: { swap: string }) {
 *   const { data } = useSwapStatus({ contract_address: swap, chain: 'ethereum_sepolia' });
 *   if (data === undefined) return null;
 *   const isStopped = (BigInt(data.stopped) & BigInt(data.swap_level)) !== 0n;
 *   return <p>{isStopped ? 'Stopped' : 'Open'}</p>;
 * }
 * ```
 */
export function useSwapStatus(
  params: OptionalParams<'swapStatus'>,
  options?: HookOptions<SwapStatus>,
): QueryResult<SwapStatus> {
  return useQueryOf(queries.swapStatus, params, options);
}

/**
 * Returns whether a wallet is allowed to swap.
 *
 * @example
 * ```tsx
 * import { useWallet, useWalletAuthorization } from '@causeway/sdk/react';
 *
 * function Allowed({ swap }: { swap: string }) {
 *   const { wallet } = useWallet('ethereum');
 *   const { data } = useWalletAuthorization(
 *     wallet && { contract_address: swap, chain: 'ethereum_sepolia', wallet_address: wallet.address },
 *   );
 *   return <p>{data?.authorized ? 'Allowed' : 'Not allowed yet'}</p>;
 * }
 * ```
 */
export function useWalletAuthorization(
  params: OptionalParams<'walletAuthorization'>,
  options?: HookOptions<WalletAuthorization>,
): QueryResult<WalletAuthorization> {
  return useQueryOf(queries.walletAuthorization, params, options);
}
