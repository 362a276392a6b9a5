import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { fundSwapV1 } from '@causeway/contracts/abi/fund-swap-v1.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import type { Abi } from 'viem';

type AbiFunctions<A extends Abi> = Extract<A[number], { type: 'function' }>;

/** The ERC-20 views that the service reads. */
export const erc20Abi = [
  ...pickFunctions(token.abi, ['balanceOf', 'allowance', 'name', 'symbol']),
  // Declared as uint256 instead of the standard uint8, so that an out-of-range value decodes and `readDecimals` can
  // reject it.
  {
    type: 'function',
    name: 'decimals',
    stateMutability: 'view',
    inputs: [],
    outputs: [{ name: '', type: 'uint256' }],
  },
] as const;

/**
 * The functions of both generations of the fund swap. `stopped()` returns a uint256 in the first generation and a bool
 * in the second; both decode as uint256.
 */
export const fundSwapAbi = [
  ...pickFunctions(fundSwap.abi, ['preview', 'outputToken', 'authorized', 'paused', 'status', 'SWAP_LEVEL']),
  ...pickFunctions(fundSwapV1.abi, ['stopped']),
] as const;

function pickFunctions<const A extends Abi, Name extends AbiFunctions<A>['name']>(
  abi: A,
  names: readonly Name[],
): Extract<AbiFunctions<A>, { name: Name }>[] {
  const wanted: readonly string[] = names;
  return abi.filter((item) => item.type === 'function' && wanted.includes(item.name)) as Extract<
    AbiFunctions<A>,
    { name: Name }
  >[];
}
