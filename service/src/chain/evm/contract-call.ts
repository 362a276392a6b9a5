import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type Hex,
  prepareEncodeFunctionData,
} from 'viem';
import { decodeFunctionResult, encodeFunctionData, hexToBigInt, size, slice } from 'viem/utils';

/** A contract read. Two calls with the same `key` are the same read. */
export type Call<T> = { key: string; to: Hex; encode(): Hex; decode(data: Hex): T };

type View = 'view' | 'pure';
type PreparedFunction = { abi: Abi; functionName: Hex; name: string };

/**
 * Caches each function with its selector, because computing the selector costs more than encoding the call. Assumes
 * that no view is overloaded.
 */
const preparedByAbi = new WeakMap<Abi, Map<string, PreparedFunction>>();

function prepareFunction(abi: Abi, name: string): PreparedFunction {
  const byName = preparedByAbi.get(abi) ?? new Map<string, PreparedFunction>();
  preparedByAbi.set(abi, byName);
  const prepared = byName.get(name) ?? { ...prepareEncodeFunctionData({ abi, functionName: name }), name };
  byName.set(name, prepared);
  return prepared;
}

export function contractCall<const A extends Abi, Name extends ContractFunctionName<A, View>>(
  to: Hex,
  abi: A,
  functionName: Name,
  args: ContractFunctionArgs<A, View, Name>,
): Call<ContractFunctionReturnType<A, View, Name>> {
  const prepared = prepareFunction(abi as Abi, functionName);
  return {
    key: `${to}.${functionName}(${(args as readonly unknown[]).join()})`,
    to,
    encode: () => encodeFunctionData({ ...prepared, args: args as readonly unknown[] }),
    decode: (data) =>
      decodeFunctionResult({
        abi: prepared.abi,
        functionName: prepared.name,
        data,
      }) as ContractFunctionReturnType<A, View, Name>,
  };
}

/** Decodes the result as a list of 32-byte words, for views that return different types in different deployments. */
export function asWords(call: Call<unknown>): Call<bigint[]> {
  return { ...call, key: `${call.key} words`, decode: readWords };
}

function readWords(data: Hex): bigint[] {
  if (size(data) === 0 || size(data) % 32 !== 0) throw new Error('the result is not a list of 32-byte words');
  return Array.from({ length: size(data) / 32 }, (_, i) => hexToBigInt(slice(data, 32 * i, 32 * i + 32)));
}
