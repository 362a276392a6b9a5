import { createHmac } from 'node:crypto';
import { foldKey, foldText } from '../../kernel/places/fold.ts';
import type { UserKind } from '../users/user.ts';

type Names = { first_name: string | null; last_name: string | null; full_legal_name: string | null };

/**
 * Returns a keyed hash of the person (first name, last name and date of birth) or of the company (its name).
 * Case, diacritics, punctuation and middle names make no difference. `key` is in base64.
 */
export function hashPerson(
  key: string,
  kind: UserKind,
  data: Names & { date_of_birth: string | null },
): string {
  const names = kind === 'company' ? [foldKey(data.full_legal_name ?? '')] : personNames(data);
  const text = JSON.stringify([kind, ...names, kind === 'company' ? '' : (data.date_of_birth ?? '')]);
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('hex');
}

function personNames({ first_name, last_name, full_legal_name }: Names): string[] {
  if ((first_name ?? last_name) !== null) return [foldKey(first_name ?? ''), foldKey(last_name ?? '')];
  // The provider may know only the full name.
  const words = foldText(full_legal_name ?? '').split(' ');
  return [words[0] ?? '', words.at(-1) ?? ''];
}
