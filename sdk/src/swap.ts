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

type Query<Name extends keyof Operations> = Operations[Name] extends { query: infer Asked } ? Asked : never;

export type Swap = {
  /** What an amount of the input token would give, and the fee. */
  preview(query: Query<'previewSwap'>, options?: RequestOptions): Promise<SwapPreview>;
  outputToken(query: Query<'getSwapOutputToken'>, options?: RequestOptions): Promise<SwapOutputToken>;
  /** `stopped` is a bitmask; "0" means that nothing is stopped. */
  status(query: Query<'getSwapStatus'>, options?: RequestOptions): Promise<SwapStatus>;
  /** Whether the wallet may swap. */
  authorized(query: Query<'getWalletAuthorization'>, options?: RequestOptions): Promise<WalletAuthorization>;
};

export type Token = {
  allowance(query: Query<'getTokenAllowance'>, options?: RequestOptions): Promise<TokenAllowance>;
  balance(query: Query<'getTokenBalance'>, options?: RequestOptions): Promise<TokenBalance>;
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
