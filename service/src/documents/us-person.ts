import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { readSealedFacts } from '../pii/store.ts';
import { UNITED_STATES_WORDS } from '../pii/united-states.ts';
import type { FormValues } from './provider.ts';

const COUNTRY_FIELDS = new Set(['country', 'country of citizenship']);

/** Throws when anything says that a W-9 is the right form; answers the version of the data on record. */
export async function refuseUnitedStates(ctx: Context, userId: string, values: FormValues): Promise<number> {
  const row = await readSealedFacts(ctx.db, userId);
  const isOnRecord = row !== undefined && ctx.openPiiFacts(userId, row.sealed_facts).isUnitedStates;
  if (isOnRecord || saysUnitedStates(values))
    throw new ApiError('tax_form_not_applicable', { form: ['W-9 required'] });
  return row?.version ?? 0;
}

/** Names of fields are matched as the provider does: whatever their case, with spaces or underscores. */
export function saysUnitedStates(values: FormValues): boolean {
  return Object.entries(values).some(([name, value]) => {
    const field = name
      .trim()
      .toLowerCase()
      .replace(/[\s_]+/g, ' ');
    return (
      COUNTRY_FIELDS.has(field) && UNITED_STATES_WORDS.has(value.trim().toLowerCase().replace(/\s+/g, ' '))
    );
  });
}
