import { saleFundV2 } from '@causeway/contracts/abi/sale-fund-v2.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import type { Hex } from 'viem';
import { keccak256, toHex } from 'viem/utils';
import type { TestChain } from './chain.ts';

/** Deploys a second-generation fund, and grants the operator the roles to commit and to refund. */
export async function makeFundV2(chain: TestChain): Promise<Hex> {
  const owner = roles.owner.address;
  const fund = await chain.create(saleFundV2, [owner, keccak256(toHex('fund of ids')), 1_000_000n]);
  await grantRoles(chain, fund, roles.operator.address);
  return fund;
}

/** Grants an address the roles to commit to the fund and to refund from it. */
export async function grantRoles({ owner }: TestChain, fund: Hex, address: Hex): Promise<void> {
  await owner.writeContract({
    ...{ address: fund, abi: saleFundV2.abi, functionName: 'grantRoles', args: [address, 6n], gas: 200_000n },
  } as never);
}
