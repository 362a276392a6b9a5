import type { UserKind } from '../accounts/user.ts';
import type { FormType } from './provider.ts';

export const FORM_OF_KIND: Record<UserKind, FormType> = { person: 'w8_ben', company: 'w8_ben_e' };

/** Returns the end of a form's validity: 31 December of the third year after the signature. */
export function validUntil(signedAt: number): number {
  return Date.UTC(new Date(signedAt).getUTCFullYear() + 4, 0, 1);
}

export type SignedForm = { formType: FormType; signedAt: number; piiVersion: number };

/** The current data of the user. */
export type Circumstances = { kind: UserKind; piiVersion: number; isUnitedStates: boolean; now: number };

/**
 * Returns why a signed form is no longer valid, or null if it is. A form signed before any personal data was stored is
 * not invalidated by the first data.
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
