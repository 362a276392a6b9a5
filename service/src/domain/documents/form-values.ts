import { ApiError } from '../../kernel/errors.ts';
import { namesUnitedStates } from '../../kernel/places/united-states.ts';
import type { Context } from '../../platform/context/context.ts';
import type { FormValues } from '../../platform/providers/documents.ts';
import { readPiiFacts } from '../pii/pii.ts';

const COUNTRY_FIELDS = new Set(['country', 'country of citizenship']);

/** The provider would fetch a URL and show the file, so a URL could make it read from internal addresses. */
const URL_VALUE = /^[\s\p{C}]*(?:[a-z][a-z0-9+.-]*:\/\/|\/\/|(?:data|blob|javascript|file|mailto):|www\.)/iu;

export function assertNoUrls(values: FormValues): void {
  const fields = Object.keys(values).filter((name) => URL_VALUE.test(values[name] ?? ''));
  if (fields.length > 0)
    throw new ApiError(
      'validation_failed',
      Object.fromEntries(fields.map((field) => [field, ['must not be a URL']])),
    );
}

/** Matches field names as the provider does: ignores case, and treats underscores as spaces. */
export function hasUnitedStatesCountry(values: FormValues): boolean {
  return Object.entries(values).some(([name, value]) => {
    const field = name
      .trim()
      .toLowerCase()
      .replace(/[\s_]+/g, ' ');
    return COUNTRY_FIELDS.has(field) && namesUnitedStates(value);
  });
}

/** A US person needs a W-9 instead. Returns the version of the stored personal data. */
export async function assertNotUnitedStates(
  ctx: Context,
  userId: string,
  values: FormValues,
): Promise<number> {
  const facts = await readPiiFacts(ctx, userId);
  if (facts?.isUnitedStates || hasUnitedStatesCountry(values))
    throw new ApiError('tax_form_not_applicable', { form: ['W-9 required'] });
  return facts?.version ?? 0;
}
