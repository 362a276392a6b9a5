import { useState } from 'react';
import { parseAmount } from '../../amounts.ts';
import { formatTokenAmount } from '../ui/format.ts';

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
  /** The amount in smallest units; null if it is invalid. */
  units: bigint | null;
  /** Why the amount is invalid; null until something is typed. */
  problem: string | null;
};

/** Holds the amount a user types and validates it against the limits. */
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

/** Parses an amount, which may group digits with spaces or commas; rejects anything ambiguous. */
export function checkAmount(text: string, limits: Limits): { units: bigint | null; problem: string | null } {
  const { decimals, code, balance, minimum, maximum } = limits;
  const parsed = parseAmount(withoutGroups(text), decimals);
  if (parsed === null) {
    const isTooPrecise = parseAmount(withoutGroups(text), 77) !== null;
    const problem = isTooPrecise
      ? `${code} has at most ${decimals} decimal places.`
      : 'Enter an amount, for example 250.50.';
    return { units: null, problem };
  }
  const units = BigInt(parsed);
  const show = (value: bigint) => formatTokenAmount(value, limits);
  const fail = (problem: string) => ({ units, problem });
  if (units === 0n) return fail('Enter an amount above zero.');
  if (minimum !== undefined && units < minimum) return fail(`The minimum is ${show(minimum)}.`);
  if (maximum !== undefined && units > maximum) return fail(`You can pay up to ${show(maximum)} right now.`);
  if (balance !== undefined && units > balance) return fail(`Your balance is ${show(balance)}.`);
  return { units, problem: null };
}

/** Turns `1,250.5` and `1 250.5` into `1250.5`; leaves `1,25` unchanged, which then fails to parse. */
function withoutGroups(text: string): string {
  const trimmed = text.trim();
  return /^\d{1,3}([, ]\d{3})+(\.\d*)?$/.test(trimmed) ? trimmed.replace(/[, ]/g, '') : trimmed;
}
