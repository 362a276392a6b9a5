import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import type { FormValues } from '../../platform/providers/documents.ts';
import { readPiiFacts } from '../pii/pii.ts';
import { hasUnitedStatesCountry } from './form-values.ts';

/**
 * Throws `tax_form_not_applicable` for a US person, who needs a W-9 instead. Returns the version of the stored personal
 * data.
 */
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
