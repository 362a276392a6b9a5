import type { Caller } from '../../kernel/access.ts';
import { invalidField } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { Filter } from '../../platform/http/filters.ts';
import { STATUSES } from '../holdings/participation.ts';
import { normalizeEmail } from '../users/user.ts';

export const FILTERS = ['offer_id', 'offer_option_id', 'user_id', 'status', 'user_email'] as const;
export type FilterField = (typeof FILTERS)[number];

/** Allowed values of one column: all values in `only` (null = any value), except the values in `not`. */
export type Choice = { only: string[] | null; not: string[] };

/** `emails` are in lower case, because emails are compared case-insensitively. */
export type Selection = { users: Choice; emails: Choice; offers: Choice; options: Choice; statuses: Choice };

export function readSelection(
  { userId }: Pick<Caller, 'userId'>,
  filters: readonly Filter<FilterField>[],
): Selection {
  const users = choose(filters, 'user_id', keepIds);
  return {
    users: userId === null ? users : intersect(users, { only: [userId], not: [] }),
    emails: choose(filters, 'user_email', (emails) => emails.map(normalizeEmail)),
    offers: choose(filters, 'offer_id', keepIds),
    options: choose(filters, 'offer_option_id', keepIds),
    statuses: choose(filters, 'status', checkStatuses),
  };
}

export function isRestricted({ only, not }: Choice): boolean {
  return only !== null || not.length > 0;
}

function choose(
  filters: readonly Filter<FilterField>[],
  wanted: FilterField,
  read: (values: string[]) => string[],
): Choice {
  let choice: Choice = { only: null, not: [] };
  for (const { field, op, values } of filters) {
    if (field !== wanted) continue;
    const known = read(values);
    choice = intersect(choice, op === '!=' ? { only: null, not: known } : { only: known, not: [] });
  }
  return choice;
}

function intersect(one: Choice, other: Choice): Choice {
  const not = [...new Set([...one.not, ...other.not])];
  const only =
    one.only === null || other.only === null
      ? (one.only ?? other.only)
      : one.only.filter((value) => other.only?.includes(value));
  if (only === null) return { only, not };
  return { only: [...new Set(only)].filter((value) => !not.includes(value)), not: [] };
}

function keepIds(values: string[]): string[] {
  return values.filter(isId).map((value) => value.toLowerCase());
}

function checkStatuses(values: string[]): string[] {
  for (const value of values)
    if (!STATUSES.some((status) => status === value))
      throw invalidField('filters', `status must be one of ${STATUSES.join(', ')}`);
  return values;
}
