import { type Queries, queries } from '../../queries.ts';
import type {
  SwapOutputToken,
  SwapPreview,
  SwapStatus,
  TokenAllowance,
  TokenBalance,
  TokenizedSwapQuote,
  TokenizedSwapTradingStatus,
  WalletAuthorization,
} from '../../wire.ts';
import { given } from './use-offers.ts';
import { type Answer, type HookOptions, useQuery } from './use-query.ts';

/** What is asked, or null as long as it is not known. */
type Asked<Name extends keyof Queries> = Parameters<Queries[Name]>[0] | null | undefined;

/** Stands for a question that is not asked. */
const NOTHING = {} as never;

/**
 * What a swap would give now.
 *
 * @example
 * ```tsx
 * import { useSwapPreview } from '@causeway/sdk/react';
 *
 * function Preview({ swap, token }: { swap: string; token: string }) {
 *   const { data } = useSwapPreview(
 *     { contract_address: swap, chain: 'ethereum_sepolia', input_token: token, amount: '1000000' },
 *     { every: 10_000 },
 *   );
 *   return <p>{data?.receive_output_amount}</p>;
 * }
 * ```
 */
export function useSwapPreview(query: Asked<'swapPreview'>, options?: HookOptions): Answer<SwapPreview> {
  return useQuery(queries.swapPreview(query ?? NOTHING), given(query, options));
}

/**
 * The token that a swap gives.
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
  query: Asked<'swapOutputToken'>,
  options?: HookOptions,
): Answer<SwapOutputToken> {
  return useQuery(queries.swapOutputToken(query ?? NOTHING), given(query, options));
}

/**
 * Whether a swap is stopped: it is when `stopped` has the bit of `swap_level` set.
 *
 * @example
 * ```tsx
 * import { useSwapStatus } from '@causeway/sdk/react';
 *
 * function Open({ swap }: { swap: string }) {
 *   const { data } = useSwapStatus({ contract_address: swap, chain: 'ethereum_sepolia' });
 *   return <p>{data?.stopped === '0' ? 'Open' : 'Stopped'}</p>;
 * }
 * ```
 */
export function useSwapStatus(query: Asked<'swapStatus'>, options?: HookOptions): Answer<SwapStatus> {
  return useQuery(queries.swapStatus(query ?? NOTHING), given(query, options));
}

/**
 * Whether a wallet may swap.
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
  query: Asked<'walletAuthorization'>,
  options?: HookOptions,
): Answer<WalletAuthorization> {
  return useQuery(queries.walletAuthorization(query ?? NOTHING), given(query, options));
}

/**
 * How much of a token a spender may take from its owner.
 *
 * @example
 * ```tsx
 * import { useTokenAllowance } from '@causeway/sdk/react';
 *
 * function Allowance(query: { token_address: string; owner: string; spender: string }) {
 *   return <p>{useTokenAllowance({ ...query, chain: 'base_sepolia' }).data?.allowance}</p>;
 * }
 * ```
 */
export function useTokenAllowance(
  query: Asked<'tokenAllowance'>,
  options?: HookOptions,
): Answer<TokenAllowance> {
  return useQuery(queries.tokenAllowance(query ?? NOTHING), given(query, options));
}

/**
 * How much of a token an address holds, in its smallest unit.
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
export function useTokenBalance(query: Asked<'tokenBalance'>, options?: HookOptions): Answer<TokenBalance> {
  return useQuery(queries.tokenBalance(query ?? NOTHING), given(query, options));
}

/**
 * The price of a tokenized asset for a side and a size; free to poll.
 *
 * @example
 * ```tsx
 * import { useQuote } from '@causeway/sdk/react';
 *
 * function Price() {
 *   const { data } = useQuote({ symbol: 'AAPLon', side: 'buy', token_amount: '1' }, { every: 3_000 });
 *   return <p>{data?.price} USD</p>;
 * }
 * ```
 */
export function useQuote(query: Asked<'quote'>, options?: HookOptions): Answer<TokenizedSwapQuote> {
  return useQuery(queries.quote(query ?? NOTHING), given(query, options));
}

/**
 * Whether and how much of a tokenized asset can be traded now; free to poll.
 *
 * @example
 * ```tsx
 * import { useTradingStatus } from '@causeway/sdk/react';
 *
 * function Market() {
 *   const { data } = useTradingStatus({ symbol: 'AAPLon', side: 'buy' }, { every: 15_000 });
 *   return <p>{data?.tradable ? 'Open' : 'Closed'}</p>;
 * }
 * ```
 */
export function useTradingStatus(
  query: Asked<'tradingStatus'>,
  options?: HookOptions,
): Answer<TokenizedSwapTradingStatus> {
  return useQuery(queries.tradingStatus(query ?? NOTHING), given(query, options));
}
