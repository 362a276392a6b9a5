import type { RequestOptions, Send } from './request.ts';
import type {
  Operations,
  SwapOutputToken,
  SwapPreview,
  SwapStatus,
  TokenAllowance,
  TokenBalance,
  WalletAuthorization,
} from './wire.ts';

/** The query parameters of an operation. */
export type QueryOf<Name extends keyof Operations> = Operations[Name] extends { query: infer Query }
  ? Query
  : never;

export type Swap = {
  /** Returns the output and the fee for an amount of the input token. */
  preview(query: QueryOf<'previewSwap'>, options?: RequestOptions): Promise<SwapPreview>;
  outputToken(query: QueryOf<'getSwapOutputToken'>, options?: RequestOptions): Promise<SwapOutputToken>;
  /** Returns what is currently stopped. `stopped` is a bitmask; "0" means that nothing is stopped. */
  status(query: QueryOf<'getSwapStatus'>, options?: RequestOptions): Promise<SwapStatus>;
  /** Returns whether the wallet may swap. */
  authorized(
    query: QueryOf<'getWalletAuthorization'>,
    options?: RequestOptions,
  ): Promise<WalletAuthorization>;
};

export type Token = {
  allowance(query: QueryOf<'getTokenAllowance'>, options?: RequestOptions): Promise<TokenAllowance>;
  balance(query: QueryOf<'getTokenBalance'>, options?: RequestOptions): Promise<TokenBalance>;
};

export function swapOf(send: Send): Swap {
  return {
    preview: (query, options) => send({ method: 'GET', path: '/v1/swap/preview', query }, options),
    outputToken: (query, options) => send({ method: 'GET', path: '/v1/swap/output-token', query }, options),
    status: (query, options) => send({ method: 'GET', path: '/v1/swap/status', query }, options),
    authorized: (query, options) => send({ method: 'GET', path: '/v1/wallet/authorized', query }, options),
  };
}

export function tokenOf(send: Send): Token {
  return {
    allowance: (query, options) => send({ method: 'GET', path: '/v1/token/allowance', query }, options),
    balance: (query, options) => send({ method: 'GET', path: '/v1/token/balance', query }, options),
  };
}
