import { toLowerHex } from '../../platform/chain/address.ts';
import { readAllowance, readBalance, readTokenMetadata } from '../../platform/chain/evm/erc20.ts';
import {
  readAuthorized,
  readOutputToken,
  readPreview,
  readSwapStatus,
} from '../../platform/chain/evm/fund-swap.ts';
import type { Context } from '../../platform/context/context.ts';
import type {
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

export async function previewSwap(ctx: Context, query: PreviewQuery): Promise<SwapPreview> {
  const { contract_address, input_token, amount } = query;
  const chain = ctx.chains.evm(query.chain);
  const { input, fee, output } = await readPreview(
    chain,
    toLowerHex(contract_address),
    toLowerHex(input_token),
    BigInt(amount),
  );
  return {
    object: 'swap_preview',
    fee: fee.toString(),
    pay_input_amount: input.toString(),
    receive_output_amount: output.toString(),
  };
}

export async function describeOutputToken(ctx: Context, query: ContractQuery): Promise<SwapOutputToken> {
  const chain = ctx.chains.evm(query.chain);
  const token = await readOutputToken(chain, toLowerHex(query.contract_address));
  return { object: 'swap_output_token', ...(await readTokenMetadata(chain, token)) };
}

export async function describeStatus(ctx: Context, query: ContractQuery): Promise<SwapStatus> {
  const { stopped, swapLevel } = await readSwapStatus(
    ctx.chains.evm(query.chain),
    toLowerHex(query.contract_address),
  );
  return { object: 'swap_status', stopped: stopped.toString(), swap_level: swapLevel.toString() };
}

export async function checkAuthorized(ctx: Context, query: AuthorizedQuery): Promise<WalletAuthorization> {
  const { contract_address, wallet_address } = query;
  const authorized = await readAuthorized(
    ctx.chains.evm(query.chain),
    toLowerHex(contract_address),
    toLowerHex(wallet_address),
  );
  return { object: 'wallet_authorization', authorized };
}

export async function findAllowance(ctx: Context, query: AllowanceQuery): Promise<TokenAllowance> {
  const allowance = await readAllowance(
    ctx.chains.evm(query.chain),
    toLowerHex(query.token_address),
    toLowerHex(query.owner),
    toLowerHex(query.spender),
  );
  return { object: 'token_allowance', allowance: allowance.toString() };
}

export async function findBalance(ctx: Context, query: BalanceQuery): Promise<TokenBalance> {
  const balance = await readBalance(
    ctx.chains.evm(query.chain),
    toLowerHex(query.token_address),
    toLowerHex(query.owner),
  );
  return { object: 'token_balance', balance: balance.toString() };
}
