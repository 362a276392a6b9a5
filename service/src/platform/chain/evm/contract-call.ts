import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { fundSwapV1 } from '@causeway/contracts/abi/fund-swap-v1.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import type { Abi, ContractFunctionArgs, ContractFunctionName, ContractFunctionReturnType, Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData, hexToBigInt, size, slice } from 'viem/utils';
import { ApiError } from '../../../kernel/errors.ts';

/** A contract read. Two calls with the same `key` are the same read. */
export type Call<T> = { key: string; to: Hex; encode(): Hex; decode(data: Hex): T };

type View = 'view' | 'pure';

export function contractCall<const A extends Abi, Name extends ContractFunctionName<A, View>>(
  to: Hex,
  abi: A,
  functionName: Name,
  args: ContractFunctionArgs<A, View, Name>,
): Call<ContractFunctionReturnType<A, View, Name>> {
  const call = { abi: abi as Abi, functionName: functionName as string, args: args as readonly unknown[] };
  return {
    key: `${to}.${functionName}(${call.args.join()})`,
    to,
    encode: () => encodeFunctionData(call),
    decode: (data) => decodeFunctionResult({ ...call, data }) as ContractFunctionReturnType<A, View, Name>,
  };
}

/** Decodes the result as a list of 32-byte words, for views that return different types in different deployments. */
export function asWords(call: Call<unknown>): Call<bigint[]> {
  return { ...call, key: `${call.key} words`, decode: readWords };
}

function readWords(data: Hex): bigint[] {
  const count = size(data) / 32;
  if (count === 0 || !Number.isInteger(count)) throw new Error('the result is not a list of 32-byte words');
  return Array.from({ length: count }, (_, i) => hexToBigInt(slice(data, 32 * i, 32 * (i + 1))));
}

/** Resolves to undefined if the read reverts, for example because the contract lacks the view. */
export async function optionalView<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'contract_reverted') return undefined;
    throw error;
  }
}

type AbiFunctions<A extends Abi> = Extract<A[number], { type: 'function' }>;

export const erc20Abi = [
  ...pickFunctions(token.abi, ['balanceOf', 'allowance', 'name', 'symbol']),
  // Not the standard uint8, so that an out-of-range value decodes and `readDecimals` can reject it.
  {
    type: 'function',
    name: 'decimals',
    stateMutability: 'view',
    inputs: [],
    outputs: [{ name: '', type: 'uint256' }],
  },
] as const;

/** `stopped()` returns a uint256 in the first generation and a bool in the second; both decode as uint256. */
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
