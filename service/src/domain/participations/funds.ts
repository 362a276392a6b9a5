import { ApiError } from '../../kernel/errors.ts';

/**
 * `source` is the user's token account on Solana, null until the approval has been found, and always null on EVM
 * chains.
 */
export type RequiredFunds = {
  user: string;
  fund: string;
  token: string;
  amount: bigint;
  source: string | null;
};

export type Shortage = {
  code: 'insufficient_allowance' | 'insufficient_balance';
  details: Record<string, string>;
};

export type AvailableFunds = { allowance: bigint; balance: bigint };

export type FundsReader = {
  /**
   * Reads at block `height` or later. Null if the node could not read the values; an error if the token contract
   * reverts or does not exist.
   */
  readFunds(
    required: readonly RequiredFunds[],
    height: bigint,
  ): Promise<(AvailableFunds | ApiError | null)[]>;
};

export type FundsFinding =
  | { state: 'unconfirmed' }
  | { state: 'short'; shortage: Shortage }
  | { state: 'unreadable'; error: ApiError }
  | { state: 'good'; available: AvailableFunds };

export async function inspectFunds(
  reader: FundsReader,
  required: readonly RequiredFunds[],
  height: bigint,
): Promise<FundsFinding[]> {
  const available = await reader.readFunds(required, height);
  return required.map((funds, i) => {
    const found = available[i] ?? null;
    if (found === null) return { state: 'unconfirmed' };
    if (found instanceof ApiError) return { state: 'unreadable', error: found };
    const shortage = findShortage(funds, found);
    return shortage === null ? { state: 'good', available: found } : { state: 'short', shortage };
  });
}

/** Returns why the fund could not take the amount, or null if it could. */
export function findShortage(
  { token, user, fund, amount }: RequiredFunds,
  { allowance, balance }: AvailableFunds,
): Shortage | null {
  const required = String(amount);
  if (allowance < amount) {
    const details = { required, allowance: String(allowance), spender: fund, token };
    return { code: 'insufficient_allowance', details };
  }
  if (balance < amount) {
    const details = { required, balance: String(balance), owner: user, token };
    return { code: 'insufficient_balance', details };
  }
  return null;
}
