import Type, { type Static } from 'typebox';
import { Closed, EvmAddress, EvmChain, ObjectName, Uint256 } from '../../kernel/wire.ts';

const contract = { contract_address: EvmAddress, chain: EvmChain };

export const ContractQuery = Type.Object(contract);
export const PreviewQuery = Type.Object({ ...contract, input_token: EvmAddress, amount: Uint256 });
export const AuthorizedQuery = Type.Object({ ...contract, wallet_address: EvmAddress });
export const AllowanceQuery = Type.Object({
  token_address: EvmAddress,
  owner: EvmAddress,
  spender: EvmAddress,
  chain: EvmChain,
});
export const BalanceQuery = Type.Object({ token_address: EvmAddress, owner: EvmAddress, chain: EvmChain });

export type ContractQuery = Static<typeof ContractQuery>;
export type PreviewQuery = Static<typeof PreviewQuery>;
export type AuthorizedQuery = Static<typeof AuthorizedQuery>;
export type AllowanceQuery = Static<typeof AllowanceQuery>;
export type BalanceQuery = Static<typeof BalanceQuery>;

export const SwapPreview = Closed(
  {
    object: ObjectName('swap_preview'),
    fee: Uint256,
    pay_input_amount: Uint256,
    receive_output_amount: Uint256,
  },
  {
    title: 'SwapPreview',
    description:
      'The result of a swap at the latest block. The market takes `pay_input_amount`, which is less than the requested amount if supply is short. The wallet pays `pay_input_amount` plus `fee`, which together never exceed the requested amount.',
  },
);

export const SwapOutputToken = Closed(
  {
    object: ObjectName('swap_output_token'),
    name: Type.String(),
    symbol: Type.String(),
    decimals: Type.Integer(),
  },
  { title: 'SwapOutputToken' },
);

export const SwapStatus = Closed(
  { object: ObjectName('swap_status'), stopped: Uint256, swap_level: Uint256 },
  {
    title: 'SwapStatus',
    description:
      'Swaps are stopped if the bit mask `stopped` contains the bit of `swap_level`. If `stopped` is zero, nothing is stopped.',
  },
);

export const WalletAuthorization = Closed(
  { object: ObjectName('wallet_authorization'), authorized: Type.Boolean() },
  { title: 'WalletAuthorization' },
);

export const TokenAllowance = Closed(
  { object: ObjectName('token_allowance'), allowance: Uint256 },
  { title: 'TokenAllowance' },
);

export const TokenBalance = Closed(
  { object: ObjectName('token_balance'), balance: Uint256 },
  { title: 'TokenBalance' },
);

export type SwapPreview = Static<typeof SwapPreview>;
export type SwapOutputToken = Static<typeof SwapOutputToken>;
export type SwapStatus = Static<typeof SwapStatus>;
export type WalletAuthorization = Static<typeof WalletAuthorization>;
export type TokenAllowance = Static<typeof TokenAllowance>;
export type TokenBalance = Static<typeof TokenBalance>;
