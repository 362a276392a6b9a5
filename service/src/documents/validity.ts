import type { UserKind } from '../accounts/user.ts';
import type { FormType } from './provider.ts';

export const FORM_OF_KIND: Record<UserKind, FormType> = { person: 'w8_ben', company: 'w8_ben_e' };

/** The first instant after 31 December of the third year after the one of signing. */
export function validUntil(signedAt: number): number {
  return Date.UTC(new Date(signedAt).getUTCFullYear() + 4, 0, 1);
}

export type SignedForm = { formType: FormType; signedAt: number; piiVersion: number };

/** What is on record of the user now. */
export type Circumstances = { kind: UserKind; piiVersion: number; isUnitedStates: boolean; now: number };

/**
 * Why a signed form is no good any more; null while it is. A change of circumstances ends it, and so does time. A form
 * that was signed before anything was on record is not made void by the first record.
 */
export function formDefect(
  form: SignedForm,
  circumstances: Circumstances,
): 'too_old' | 'data_changed' | null {
  const { kind, piiVersion, isUnitedStates, now } = circumstances;
  const isChanged = form.piiVersion > 0 && form.piiVersion !== piiVersion;
  if (isChanged || isUnitedStates || form.formType !== FORM_OF_KIND[kind]) return 'data_changed';
  return now >= validUntil(form.signedAt) ? 'too_old' : null;
}
