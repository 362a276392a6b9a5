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
import { decodeFunctionResult, encodeFunctionData, size } from 'viem/utils';

/** A contract read. Two calls with the same `key` are the same read. */
export type Call<T> = { key: string; to: Hex; encode(): Hex; decode(data: Hex): T };

type View = 'view' | 'pure';
type PreparedFunction = {
  abi: Abi;
  functionName: Hex;
  name: string;
  /** The maximum of each argument, if `encodeWords` can encode all of them. Otherwise null. */
  maxima: readonly number[] | null;
  /** The number of results, if all of them are of type `uint256`. Otherwise null. */
  numbers: number | null;
};

/**
 * The types of the arguments that `encodeWords` encodes, with the maximum of each. `encodeWords` itself refuses values
 * that do not fit into a word.
 */
const MAXIMA = new Map([
  ['address', Number.POSITIVE_INFINITY],
  ['uint256', Number.POSITIVE_INFINITY],
  ['uint8', 255],
]);

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
  const [{ inputs, outputs }] = prepared.abi as readonly [AbiFunction];
  const maxima = inputs.flatMap(({ type }) => MAXIMA.get(type) ?? []);
  const created = {
    ...prepared,
    name,
    maxima: maxima.length === inputs.length ? maxima : null,
    numbers: outputs.every(({ type }) => type === 'uint256') ? outputs.length : null,
  };
  byName.set(name, created);
  return created;
}

// viem's encoder and decoder handle all types, and are far slower than what the common types need.

function encode({ abi, functionName, maxima }: PreparedFunction, args: readonly unknown[]): Hex {
  return maxima?.length === args.length && maxima.every((max, i) => !(Number(args[i]) > max))
    ? `${functionName}${encodeWords(args)}`
    : encodeFunctionData({ abi, functionName, args });
}

function decode({ abi, name, numbers }: PreparedFunction, data: Hex): unknown {
  if (numbers === null || numbers === 0 || data.length < 2 + 64 * numbers)
    return decodeFunctionResult({ abi, functionName: name, data });
  const values = readNumbers(data, numbers);
  return numbers === 1 ? values[0] : values;
}

/** Returns the numbers in the first `count` words. */
function readNumbers(data: Hex, count: number): bigint[] {
  const values: bigint[] = [];
  for (let i = 0; i < count; i++) values.push(BigInt(`0x${data.slice(2 + 64 * i, 66 + 64 * i)}`));
  return values;
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
    decode: (data) => decode(prepared, data) as ContractFunctionReturnType<A, View, Name>,
  };
}

/** Decodes the result as a list of 32-byte words, for views that return different types in different deployments. */
export function asWords(call: Call<unknown>): Call<bigint[]> {
  return { ...call, key: `${call.key} words`, decode: readWords };
}

/** Decodes the result as an address in lower case. viem would compute the checksum of the address, which is slow. */
export function asAddress(call: Call<Hex>): Call<Hex> {
  return { ...call, key: `${call.key} address`, decode: readAddress };
}

function readAddress(data: Hex): Hex {
  if (data.length < 66) throw new Error('the result is shorter than an ABI word');
  return `0x${data.slice(26, 66).toLowerCase()}`;
}

function readWords(data: Hex): bigint[] {
  if (size(data) === 0 || size(data) % 32 !== 0) throw new Error('the result is not a list of 32-byte words');
  return readNumbers(data, size(data) / 32);
}
