import { type Hex, keccak256, toHex } from 'viem';
import { saleFund } from '../../abi/sale-fund.ts';
import { accounts, type Call, type Chain, type Deployed, deploy, send } from '../chain.ts';

export type Fund = Deployed<typeof saleFund.abi>;

export const option = keccak256(toHex('option-1'));
export const otherOption = keccak256(toHex('option-2'));
export const minCommit = 100n;

/** Deploys a fund and grants the operator the roles to commit and to remit. */
export async function deployFund(chain: Chain): Promise<Fund> {
  const fund = await deploy(chain, saleFund, [accounts.owner.address, keccak256(toHex('fund')), minCommit]);
  await send(chain, accounts.owner, {
    ...fund,
    functionName: 'grantRoles',
    args: [accounts.operator.address, 6n],
  });
  return fund;
}

export function commit(fund: Fund, user: Hex, token: Hex, amount: bigint, into = option): Call {
  return { ...fund, functionName: 'commit', args: [user, into, token, amount] };
}

export function remit(fund: Fund, user: Hex, token: Hex, amount: bigint, from = option): Call {
  return { ...fund, functionName: 'remit', args: [user, from, token, amount] };
}

type Row = { user: Hex; option?: Hex; token: Hex; amount: bigint };

export function commitMany(fund: Fund, rows: Row[]): Call {
  const columns = [
    rows.map((row) => row.user),
    rows.map((row) => row.option ?? option),
    rows.map((row) => row.token),
    rows.map((row) => row.amount),
  ];
  return { ...fund, functionName: 'commit', args: columns };
}

export async function userTotals({ client }: Chain, fund: Fund, user: Hex, token: Hex, of = option) {
  return client.readContract({ ...fund, functionName: 'totals', args: [user, of, token] });
}

export async function tokenTotals({ client }: Chain, fund: Fund, token: Hex) {
  return client.readContract({ ...fund, functionName: 'totals', args: [token] });
}
