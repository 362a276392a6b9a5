import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { readPiiFacts } from '../pii/pii.ts';
import { UNITED_STATES_NAMES } from '../pii/united-states.ts';
import type { FormValues } from './provider.ts';

const COUNTRY_FIELDS = new Set(['country', 'country of citizenship']);

/** Throws `tax_form_not_applicable` for a US person, who needs a W-9. Returns the version of the stored personal data. */
export async function assertNotUnitedStates(
  ctx: Context,
  userId: string,
  values: FormValues,
): Promise<number> {
  const facts = await readPiiFacts(ctx, userId);
  if (facts?.isUnitedStates || namesUnitedStates(values))
    throw new ApiError('tax_form_not_applicable', { form: ['W-9 required'] });
  return facts?.version ?? 0;
}

/** Matches field names as the provider does: ignoring case, with spaces or underscores. */
export function namesUnitedStates(values: FormValues): boolean {
  return Object.entries(values).some(([name, value]) => {
    const field = name
      .trim()
      .toLowerCase()
      .replace(/[\s_]+/g, ' ');
    return (
      COUNTRY_FIELDS.has(field) && UNITED_STATES_NAMES.has(value.trim().toLowerCase().replace(/\s+/g, ' '))
    );
  });
}
