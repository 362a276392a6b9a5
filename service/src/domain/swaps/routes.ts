import { partnerRoute } from '../../platform/http/route.ts';
import { checkAuthorized, describeOutputToken, describeStatus, previewSwap } from './contract.ts';
import {
  AllowanceQuery,
  AuthorizedQuery,
  BalanceQuery,
  ContractQuery,
  PreviewQuery,
  SwapOutputToken,
  SwapPreview,
  SwapStatus,
  TokenAllowance,
  TokenBalance,
  WalletAuthorization,
} from './schema.ts';
import { findAllowance, findBalance } from './token.ts';

const errors = [
  'validation_failed',
  'chain_not_supported',
  'contract_not_found',
  'contract_reverted',
  'upstream_error',
  'upstream_unavailable',
] as const;

export const swapRoutes = [
  partnerRoute('swaps:read', {
    method: 'GET',
    path: '/v1/swap/preview',
    operationId: 'previewSwap',
    summary: 'Preview a swap',
    query: PreviewQuery,
    reply: SwapPreview,
    errors,
    handle: (ctx, _caller, { query }) => previewSwap(ctx, query),
  }),
  partnerRoute('swaps:read', {
    method: 'GET',
    path: '/v1/swap/output-token',
    operationId: 'getSwapOutputToken',
    summary: 'Get the output token of a swap contract',
    query: ContractQuery,
    reply: SwapOutputToken,
    errors,
    handle: (ctx, _caller, { query }) => describeOutputToken(ctx, query),
  }),
  partnerRoute('swaps:read', {
    method: 'GET',
    path: '/v1/swap/status',
    operationId: 'getSwapStatus',
    summary: 'Get the status of a swap contract',
    query: ContractQuery,
    reply: SwapStatus,
    errors,
    handle: (ctx, _caller, { query }) => describeStatus(ctx, query),
  }),
  partnerRoute('swaps:read', {
    method: 'GET',
    path: '/v1/wallet/authorized',
    operationId: 'getWalletAuthorization',
    summary: 'Check whether a wallet may swap',
    query: AuthorizedQuery,
    reply: WalletAuthorization,
    errors,
    handle: (ctx, _caller, { query }) => checkAuthorized(ctx, query),
  }),
  partnerRoute('swaps:read', {
    method: 'GET',
    path: '/v1/token/allowance',
    operationId: 'getTokenAllowance',
    summary: 'Get a token allowance',
    query: AllowanceQuery,
    reply: TokenAllowance,
    errors,
    handle: (ctx, _caller, { query }) => findAllowance(ctx, query),
  }),
  partnerRoute('swaps:read', {
    method: 'GET',
    path: '/v1/token/balance',
    operationId: 'getTokenBalance',
    summary: 'Get a token balance',
    query: BalanceQuery,
    reply: TokenBalance,
    errors,
    handle: (ctx, _caller, { query }) => findBalance(ctx, query),
  }),
];
