import { encodeWords } from '@causeway/contracts/encodings/words.ts';
import {
  type Abi,
  type AbiFunction,
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
type PreparedFunction = {
  abi: Abi;
  functionName: Hex;
  name: string;
  /** The number of arguments, if `encodeWords` can encode all of them. Otherwise null. */
  words: number | null;
};

/**
 * Caches each function with its selector, because computing the selector costs more than encoding the call. Assumes
 * that no view is overloaded.
 */
const preparedByAbi = new WeakMap<Abi, Map<string, PreparedFunction>>();

function prepareFunction(abi: Abi, name: string): PreparedFunction {
  const byName = preparedByAbi.get(abi) ?? new Map<string, PreparedFunction>();
  preparedByAbi.set(abi, byName);
  const known = byName.get(name);
  if (known !== undefined) return known;
  const prepared = prepareEncodeFunctionData({ abi, functionName: name });
  const [{ inputs }] = prepared.abi as readonly [AbiFunction];
  const takesWords = inputs.every(({ type }) => type === 'address' || type === 'uint256');
  const created = { ...prepared, name, words: takesWords ? inputs.length : null };
  byName.set(name, created);
  return created;
}

function encode({ abi, functionName, words }: PreparedFunction, args: readonly unknown[]): Hex {
  return words === args.length
    ? `${functionName}${encodeWords(args)}`
    : encodeFunctionData({ abi, functionName, args });
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
    encode: () => encode(prepared, args as readonly unknown[]),
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
