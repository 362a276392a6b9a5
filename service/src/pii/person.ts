import { createHmac } from 'node:crypto';
import type { UserKind } from '../accounts/user.ts';
import { foldKey, foldText } from './fold.ts';
import type { PersonalData } from './personal-data.ts';

/**
 * Returns a keyed hash of the person (first name, last name and date of birth) or of the company (its name).
 * Case, diacritics, punctuation and middle names make no difference. `key` is in base64.
 */
export function hashPerson(key: string, kind: UserKind, data: PersonalData): string {
  const names = kind === 'company' ? [foldKey(data.full_legal_name ?? '')] : personNames(data);
  const text = JSON.stringify([kind, ...names, kind === 'company' ? '' : (data.date_of_birth ?? '')]);
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('hex');
}

function personNames({ first_name, last_name, full_legal_name }: PersonalData): string[] {
  if ((first_name ?? last_name ?? null) !== null)
    return [foldKey(first_name ?? ''), foldKey(last_name ?? '')];
  return outerNames(full_legal_name);
}

function outerNames(fullName: string | null): string[] {
  const words = foldText(fullName ?? '').split(' ');
  return [words[0] ?? '', words.at(-1) ?? ''];
}

/**
 * Returns whether `before` and `after` have the same date of birth, and the same first and last word in the full name.
 * Does not compare `first_name` and `last_name`, because data from version 0.1 does not have them.
 */
export function isSamePerson(before: PersonalData, after: PersonalData): boolean {
  return (
    before.date_of_birth === after.date_of_birth &&
    outerNames(before.full_legal_name).join() === outerNames(after.full_legal_name).join()
  );
}
