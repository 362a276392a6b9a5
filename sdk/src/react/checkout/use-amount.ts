import { useEffect, useState } from 'react';
import { formatAmount, parseAmount } from '../../amounts.ts';
import { groupDigits } from '../ui/format.ts';

export type Limits = {
  decimals: number;
  code: string;
  balance: bigint | undefined;
  minimum?: bigint | undefined;
  maximum?: bigint | undefined;
};

export type Amount = {
  text: string;
  setText(text: string): void;
  /** Smallest units; null for what cannot be paid. */
  units: bigint | null;
  /** Why not, once something is typed. */
  problem: string | null;
};

/** What the user types, exactly as the token counts it. */
export function useAmount(limits: Limits): Amount {
  const [text, setText] = useState('');
  const { units, problem } = checkAmount(text, limits);
  return {
    text,
    setText,
    units: problem === null ? units : null,
    problem: text.trim() === '' ? null : problem,
  };
}

/** What is typed may have spaces or commas between groups of three digits; anything doubtful is no amount. */
export function checkAmount(
  text: string,
  { decimals, code, balance, minimum, maximum }: Limits,
): { units: bigint | null; problem: string | null } {
  const parsed = parseAmount(withoutGroups(text), decimals);
  if (parsed === null) {
    const isTooFine = parseAmount(withoutGroups(text), 77) !== null;
    const problem = isTooFine
      ? `${code} has at most ${decimals} decimal places.`
      : 'Type an amount such as 250.50.';
    return { units: null, problem };
  }
  const units = BigInt(parsed);
  const show = (value: bigint) => `${groupDigits(formatAmount(value, decimals))} ${code}`;
  const fail = (problem: string) => ({ units, problem });
  if (units === 0n) return fail('Type an amount above zero.');
  if (minimum !== undefined && units < minimum) return fail(`The minimum is ${show(minimum)}.`);
  if (maximum !== undefined && units > maximum)
    return fail(`At most ${show(maximum)} can be paid at the moment.`);
  if (balance !== undefined && units > balance) return fail(`Your wallet holds ${show(balance)}.`);
  return { units, problem: null };
}

/** `1,250.5` and `1 250.5` are 1250.5; `1,25` stays as it is, which is no amount. */
function withoutGroups(text: string): string {
  const trimmed = text.trim();
  return /^\d{1,3}([, ]\d{3})+(\.\d*)?$/.test(trimmed) ? trimmed.replace(/[, ]/g, '') : trimmed;
}

/** The value once it has been left alone for a moment. */
export function useSettled<Value>(value: Value, milliseconds = 300): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}
