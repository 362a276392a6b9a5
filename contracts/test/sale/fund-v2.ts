import { type Hex, keccak256, toHex } from 'viem';
import { saleFundV2 } from '../../abi/sale-fund-v2.ts';
import { accounts, type Call, type Chain, type Deployed, deploy, send } from '../chain.ts';
import { minCommit, option } from './fund.ts';

export type FundV2 = Deployed<typeof saleFundV2.abi>;
export type Row = { id: Hex; user: Hex; option: Hex; token: Hex; amount: bigint };

/** Returns a commitment id for a test. */
export const idOf = (name: string | number): Hex => keccak256(toHex(`commitment ${name}`));

/** Deploys a second-generation fund and grants the operator the roles to commit and to remit. */
export async function deployFundV2(chain: Chain): Promise<FundV2> {
  const { owner, operator } = accounts;
  const fund = await deploy(chain, saleFundV2, [owner.address, keccak256(toHex('fund')), minCommit]);
  await send(chain, owner, { ...fund, functionName: 'grantRoles', args: [operator.address, 6n] });
  return fund;
}

export function rowOf(id: Hex, user: Hex, token: Hex, amount: bigint, into = option): Row {
  return { id, user, option: into, token, amount };
}

export function commitV2(fund: FundV2, rows: Row | Row[]): Call {
  return { ...fund, functionName: 'commit', args: [rows] };
}

export function remitV2(fund: FundV2, rows: Row | Row[]): Call {
  return { ...fund, functionName: 'remit', args: [rows] };
}
