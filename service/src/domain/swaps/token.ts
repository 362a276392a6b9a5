import { toLowerHex } from '../../platform/chain/address.ts';
import { readAllowance, readBalance } from '../../platform/chain/evm/erc20.ts';
import type { Context } from '../../platform/context/context.ts';
import type { AllowanceQuery, BalanceQuery, TokenAllowance, TokenBalance } from './schema.ts';

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
