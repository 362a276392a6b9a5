import { type Hex, zeroAddress } from 'viem';
import type { SendingRole } from '../../kernel/config/role.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { contractCall } from '../../platform/chain/evm/contract-call.ts';
import { describeRevert, revertData } from '../../platform/chain/evm/revert.ts';
import { encodeRoleProbe, readFundGeneration } from '../../platform/chain/evm/sale-fund.ts';
import { fundAbi } from '../offers/views.ts';
import type { Check, CheckTarget } from './check-target.ts';

/** Returns the checks for a sale fund: its kind, and the roles that it has granted to our keys. */
export function fundChecks({ addressOf, contract, chain }: CheckTarget): Check[] {
  const { address, funding_tokens } = contract;
  const token = funding_tokens[0]?.address ?? zeroAddress;
  const kindCheck = async () => {
    const kind = await chain.reader.read(contractCall(address, fundAbi, 'KIND', []));
    return kind === 0n ? null : `its KIND is ${kind}, but a sale fund has KIND 0`;
  };
  const roleCheck = (role: SendingRole, functionName: 'commit' | 'remit') => async () => {
    const operator = addressOf(role, chain.name);
    if (operator === null) return null;
    const data = encodeRoleProbe(functionName, token, await readFundGeneration(chain, address));
    const revert = await simulate(chain, operator, address, data);
    return revert === 'Unauthorized()'
      ? `the operator ${operator} does not have the ${functionName} role, which the ${role} key needs; the fund's owner must grant it`
      : null;
  };
  return [
    { path: 'address', run: kindCheck },
    { path: 'operator', run: roleCheck('commit', 'commit') },
    { path: 'operator', run: roleCheck('refund', 'remit') },
  ];
}

/** Simulates a call. Returns its revert reason, or null if it succeeds. */
async function simulate({ rpc }: EvmChain, from: Hex, to: Hex, data: Hex): Promise<string | null> {
  try {
    await rpc.request({ method: 'eth_call', params: [{ from, to, data }, 'latest'] });
    return null;
  } catch (error) {
    const reason = revertData(error);
    if (reason === undefined) throw error;
    return describeRevert(reason);
  }
}
