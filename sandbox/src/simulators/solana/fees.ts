import { COMPUTE_BUDGET_PROGRAM, isSameKey, LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM } from './programs.ts';
import type { WireTransaction } from './wire-transaction.ts';

const LAMPORTS_PER_SIGNATURE = 5_000n;
const MAX_UNITS = 1_400_000;
const DEFAULT_UNITS = 200_000;
const DEFAULT_BUILTIN_UNITS = 3_000;
const MICRO_LAMPORTS = 1_000_000n;

const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;

type FeeParts = Pick<WireTransaction, 'header' | 'keys' | 'instructions'>;

/**
 * Computes a transaction's fee in lamports: a fee per signature, plus the compute unit limit times the unit
 * price.
 */
export function computeFee(parts: FeeParts): bigint {
  const { units, price } = readBudget(parts);
  const priority = (BigInt(units) * price + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
  return BigInt(parts.header.required) * LAMPORTS_PER_SIGNATURE + priority;
}

/** Reads the compute unit limit and the unit price (in micro-lamports) that a transaction requests. */
export function readBudget({ keys, instructions }: FeeParts): { units: number; price: bigint } {
  let limit: number | undefined;
  let price = 0n;
  let defaultUnits = 0;
  for (const { program, data } of instructions) {
    const key = keys[program] ?? SYSTEM_PROGRAM;
    const isBudget = isSameKey(key, COMPUTE_BUDGET_PROGRAM);
    if (isBudget && data[0] === SET_UNIT_LIMIT && data.length >= 5) limit = data.readUInt32LE(1);
    if (isBudget && data[0] === SET_UNIT_PRICE && data.length >= 9) price = data.readBigUInt64LE(1);
    const isBuiltin = isBudget || isSameKey(key, SYSTEM_PROGRAM) || isSameKey(key, LOOKUP_TABLE_PROGRAM);
    defaultUnits += isBuiltin ? DEFAULT_BUILTIN_UNITS : DEFAULT_UNITS;
  }
  return { units: Math.min(limit ?? defaultUnits, MAX_UNITS), price };
}
