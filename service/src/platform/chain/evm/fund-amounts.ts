import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { saleFundV2 } from '@causeway/contracts/abi/sale-fund-v2.ts';
import type { AbiFunction, Hex } from 'viem';
import { decodeFunctionData, encodeFunctionData, toFunctionSelector } from 'viem/utils';

type Identified = { token: Hex; amount: bigint };

/** A commit or refund call. `amounts` maps the lower-case address of each token to the amount that the call moves. */
export type FundCall = { functionName: 'commit' | 'remit'; amounts: Map<string, bigint> };

const FUNCTIONS: ReadonlyMap<string, AbiFunction> = new Map(
  [...saleFund.abi, ...saleFundV2.abi].flatMap((item) =>
    item.type === 'function' && (item.name === 'commit' || item.name === 'remit')
      ? [[toFunctionSelector(item as AbiFunction), item as AbiFunction] as const]
      : [],
  ),
);

/**
 * Decodes a commit or a refund. Returns null for any other call, or if an amount cannot be determined. Also returns
 * null if the data is not in canonical ABI encoding, because another decoder could read different amounts from such
 * data.
 */
export function readFundCall(data: Hex): FundCall | null {
  const item = FUNCTIONS.get(data.slice(0, 10).toLowerCase());
  const args = item === undefined ? null : decode(item, data);
  if (item === undefined || args === null) return null;
  const amounts = new Map<string, bigint>();
  for (const { token, amount } of listRows(args)) {
    if (typeof token !== 'string' || typeof amount !== 'bigint') return null;
    const key = token.toLowerCase();
    amounts.set(key, (amounts.get(key) ?? 0n) + amount);
  }
  return { functionName: item.name as FundCall['functionName'], amounts };
}

/** Returns whether the selector belongs to a commit or a refund. */
export function isFundCall(selector: string): boolean {
  return FUNCTIONS.has(selector);
}

function decode(item: AbiFunction, data: Hex): readonly unknown[] | null {
  try {
    const { args = [] } = decodeFunctionData({ abi: [item], data });
    const encoded = encodeFunctionData({ abi: [item], args: args as unknown[] });
    return encoded === data.toLowerCase() ? args : null;
  } catch {
    return null;
  }
}

/**
 * Reads the token and the amount of each row from the arguments of a call. A row is one user's part of the call.
 * - First generation: the third argument has the tokens and the fourth the amounts, each a single value or a list.
 * - Second generation: the first argument is a row or a list of rows. A refund also has a second argument: the amounts
 *   to pay instead of those in the rows.
 */
function listRows([first, second, tokens, amounts]: readonly unknown[]): Identified[] {
  if (typeof first === 'object' && first !== null && !Array.isArray(first)) {
    const row = first as Identified;
    return [{ token: row.token, amount: (second as bigint | undefined) ?? row.amount }];
  }
  const rows = first as (Identified | Hex)[];
  if (Array.isArray(first) && tokens === undefined) {
    const paid = second as bigint[] | undefined;
    return (rows as Identified[]).map(({ token, amount }, i) => ({ token, amount: paid?.[i] ?? amount }));
  }
  const values = [amounts].flat() as bigint[];
  return values.map((amount, i) => ({ token: (Array.isArray(tokens) ? tokens[i] : tokens) as Hex, amount }));
}
