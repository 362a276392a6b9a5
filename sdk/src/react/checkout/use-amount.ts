import { useState } from 'react';
import { parseAmount } from '../../amounts.ts';
import type { Message } from '../ui/messages.ts';
import { type Ui, useUi } from '../ui/ui.tsx';

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
  /** Why the amount is invalid; null if it is valid or nothing has been typed. */
  problem: string | null;
};

/** Holds the amount a user types and validates it against the limits. */
export function useAmount(limits: Limits): Amount {
  const [text, setText] = useState('');
  const { units, problem } = checkAmount(text, limits, useUi());
  return {
    text,
    setText,
    units: problem === null ? units : null,
    problem: text.trim() === '' ? null : problem,
  };
}

/**
 * Parses an amount in the format of the user's locale, with or without digit grouping, and checks it against the
 * limits. Rejects ambiguous amounts.
 */
export function checkAmount(
  text: string,
  limits: Limits,
  { t, format }: Pick<Ui, 't' | 'format'>,
): { units: bigint | null; problem: string | null } {
  const { decimals, code, balance, minimum, maximum } = limits;
  const decimal = format.fromInput(text);
  const parsed = parseAmount(decimal, decimals);
  if (parsed === null) {
    const isTooPrecise = parseAmount(decimal, 77) !== null;
    const problem = isTooPrecise
      ? t('{code} has at most {decimals} decimal places.', { code, decimals })
      : t('Enter an amount, for example {example}.', { example: format.toInput('250.50') });
    return { units: null, problem };
  }
  const units = BigInt(parsed);
  const fail = (problem: Message, limit = 0n) => ({
    units,
    problem: t(problem, { amount: format.tokenAmount(limit, limits) }),
  });
  if (units === 0n) return fail('Enter an amount above zero.');
  if (minimum !== undefined && units < minimum) return fail('The minimum is {amount}.', minimum);
  if (maximum !== undefined && units > maximum) return fail('You can pay up to {amount} right now.', maximum);
  if (balance !== undefined && units > balance) return fail('Your balance is {amount}.', balance);
  return { units, problem: null };
}
