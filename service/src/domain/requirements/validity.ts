import type { UserKind } from '../../kernel/model/personal-data.ts';
import type { FormType } from '../../platform/providers/documents.ts';

export const FORM_OF_KIND: Record<UserKind, FormType> = { person: 'w8_ben', company: 'w8_ben_e' };

/** Returns when a form expires: at the end of the third calendar year after the year in which it was signed. */
export function validUntil(signedAt: number): number {
  return Date.UTC(new Date(signedAt).getUTCFullYear() + 4, 0, 1);
}

export type SignedForm = { formType: FormType; signedAt: number; piiVersion: number };

export type Circumstances = { kind: UserKind; piiVersion: number; now: number };

/**
 * Returns whether a signed form still applies. Any change to the personal data voids the form. If we had no personal
 * data when the form was sent, the first data voids it too: the form was never compared with verified data.
 */
export function isValidForm(form: SignedForm, { kind, piiVersion, now }: Circumstances): boolean {
  return (
    form.piiVersion === piiVersion && form.formType === FORM_OF_KIND[kind] && now < validUntil(form.signedAt)
  );
}
