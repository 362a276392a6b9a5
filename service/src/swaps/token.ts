import { readAllowance, readBalance } from '../chain/evm/erc20.ts';
import type { Context } from '../context.ts';
import { lower } from './contract.ts';
import type { AllowanceQuery, BalanceQuery, TokenAllowance, TokenBalance } from './schema.ts';

export async function findAllowance(ctx: Context, query: AllowanceQuery): Promise<TokenAllowance> {
  const { token_address, owner, spender } = query;
  const chain = ctx.chains.evm(query.chain);
  const allowance = await readAllowance(chain, lower(token_address), lower(owner), lower(spender));
  return { object: 'token_allowance', allowance: allowance.toString() };
}

export async function findBalance(ctx: Context, query: BalanceQuery): Promise<TokenBalance> {
  const balance = await readBalance(
    ctx.chains.evm(query.chain),
    lower(query.token_address),
    lower(query.owner),
  );
  return { object: 'token_balance', balance: balance.toString() };
}
