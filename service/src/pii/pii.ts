import { findUser } from '../accounts/user.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { ApiError } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import { findCountry } from './countries.ts';
import { changedFields, factsOf, NO_DATA, type PersonalData, PII_FIELDS } from './personal-data.ts';
import type { UserPii } from './schema.ts';
import { openPii, sealPii } from './sealed-data.ts';
import { insertAudit, isErased, lockPii, readSealedPii, upsertPii } from './store.ts';

/** What a partner is shown; the two fields that only serve the rules stay inside. */
const SHOWN_FIELDS = PII_FIELDS.filter((field) => field !== 'nationality' && field !== 'tax_residence');

export async function readPii(ctx: Context, caller: UserCaller): Promise<UserPii> {
  const entry = {
    user_id: caller.userId,
    actor: `client ${caller.clientId}`,
    action: 'read' as const,
    fields: SHOWN_FIELDS,
  };
  const found = await readSealedPii(ctx.db, entry);
  if (found === undefined) throw new ApiError('not_found');
  const data = found.sealed === null ? NO_DATA : openPii(ctx.sealing, caller.userId, found.sealed);
  const { street, city, state, postal_code, country } = data;
  return {
    object: 'user_pii',
    kind: found.kind,
    full_legal_name: data.full_legal_name,
    date_of_birth: found.kind === 'company' ? null : data.date_of_birth,
    jurisdiction: findCountry(country),
    permanent_address: { street, city, state, postal_code, country },
    tax_id: data.tax_id,
  };
}

/**
 * Keeps what the identity provider said at `asOf`, unless something newer is known already. What came is the whole
 * truth: a field that the provider no longer has is forgotten here too.
 */
export async function savePersonalData(
  ctx: Context,
  tx: Db,
  userId: string,
  data: PersonalData,
  asOf: string,
): Promise<void> {
  const known = await lockPii(tx, userId);
  if (known !== undefined && known.as_of > asOf) return;
  const user = await findUser(tx, userId);
  if (user === undefined || (await isErased(tx, userId))) return;
  const before = known === undefined ? NO_DATA : openPii(ctx.sealing, userId, known.sealed);
  const fields = changedFields(before, data);
  if (known === undefined && fields.length === 0) return;
  const version = (known?.version ?? 0) + (fields.length > 0 ? 1 : 0);
  const sealed = sealPii(ctx.sealing, userId, data, factsOf(data, user.kind));
  await upsertPii(tx, userId, { ...sealed, version, as_of: asOf });
  if (fields.length > 0)
    await insertAudit(tx, { user_id: userId, actor: 'identity provider', action: 'write', fields });
}
