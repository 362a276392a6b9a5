import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { saleFundV2 } from '@causeway/contracts/abi/sale-fund-v2.ts';
import type { Hex } from 'viem';
import { decodeFunctionData } from 'viem/utils';

type Identified = { token: Hex; amount: bigint };

/**
 * Returns how much of each token a commit or a refund moves; the keys are lower-case token addresses. Returns null for
 * any other call, and if the call's arguments do not show the amounts.
 */
export function readMovedAmounts(data: Hex): Map<string, bigint> | null {
  const call = decode(saleFund.abi, data) ?? decode(saleFundV2.abi, data);
  if (call === null || !['commit', 'remit'].includes(call.functionName)) return null;
  const sums = new Map<string, bigint>();
  for (const { token, amount } of listRows(call.args)) {
    if (typeof token !== 'string' || typeof amount !== 'bigint') return null;
    const key = token.toLowerCase();
    sums.set(key, (sums.get(key) ?? 0n) + amount);
  }
  return sums;
}

function decode(abi: typeof saleFund.abi | typeof saleFundV2.abi, data: Hex) {
  try {
    const { functionName, args = [] } = decodeFunctionData({ abi: abi as typeof saleFund.abi, data });
    return { functionName: String(functionName), args: args as readonly unknown[] };
  } catch {
    return null;
  }
}

/**
 * Reads token and amount of each row. The second generation takes one row or a list of rows, and for refunds the
 * amounts as a second argument. The first generation takes tokens and amounts as separate arguments, each a value or a
 * list.
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
