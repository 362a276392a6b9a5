import type { Abi, ContractFunctionArgs, ContractFunctionName, ContractFunctionReturnType, Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData, hexToBigInt, size, slice } from 'viem/utils';

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
