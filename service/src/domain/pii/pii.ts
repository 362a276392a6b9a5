import type { UserCaller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import {
  changedFields,
  type FormerPlace,
  factsOf,
  NO_DATA,
  type PersonalData,
  PII_FIELDS,
  type PiiFacts,
} from '../../kernel/model/personal-data.ts';
import { placeKey } from '../../kernel/places/areas.ts';
import { findCountry } from '../../kernel/places/countries.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { findUser } from '../users/store.ts';
import { findMove, type Move } from './country-change.ts';
import type { UserPii } from './schema.ts';
import { openFacts, openPii, sealPii } from './sealed-data.ts';
import {
  countRowsToRotate,
  findErasure,
  insertAudit,
  lockPii,
  lockRowsToRotate,
  readSealedFacts,
  readSealedPii,
  replaceSealed,
  upsertPii,
} from './store.ts';

/** Fields that the API does not return, because only the service's own checks use them. */
const HIDDEN_FIELDS: readonly string[] = [
  'first_name',
  'last_name',
  'nationality',
  'tax_residence',
  'identity_countries',
];
const SHOWN_FIELDS = PII_FIELDS.filter((field) => !HIDDEN_FIELDS.includes(field));

export async function readPii(ctx: Context, caller: UserCaller): Promise<UserPii> {
  const entry = {
    user_id: caller.userId,
    actor: `client ${caller.clientId}`,
    action: 'read' as const,
    fields: SHOWN_FIELDS,
  };
  // Uses a transaction, because the audit log gets the request id only inside one.
  const found = await ctx.db.transaction().execute((tx) => readSealedPii(tx, entry));
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

export async function readOwnData(ctx: Context, userId: string): Promise<PersonalData> {
  const entry = { user_id: userId, actor: 'user', action: 'read' as const, fields: [...PII_FIELDS] };
  const found = await ctx.db.transaction().execute((tx) => readSealedPii(tx, entry));
  return found === undefined || found.sealed === null ? NO_DATA : openPii(ctx.sealing, userId, found.sealed);
}

/** `person`: the hash that identifies the person in the new data. `move`: the change of residence, if there was one. */
type SavedData = { person: string; move: Move | null };

const MAX_FORMER_PLACES = 20;

/**
 * Stores the identity provider's data as of `asOf`, unless newer data is already stored. Replaces all fields: a field
 * that the provider no longer has becomes null. Returns null if the user is unknown or erased, or if no data is stored
 * and `data` is empty.
 */
export async function savePersonalData(
  ctx: Context,
  tx: Db,
  userId: string,
  data: PersonalData,
  asOf: string,
): Promise<SavedData | null> {
  const stored = await lockPii(tx, userId);
  const user = await findUser(tx, userId);
  if (user === undefined || (await findErasure(tx, userId)) !== undefined) return null;
  const before = stored === undefined ? NO_DATA : openPii(ctx.sealing, userId, stored.sealed);
  const fields = changedFields(before, data);
  if (stored === undefined && fields.length === 0) return null;
  const known = stored === undefined ? undefined : openFacts(ctx.sealing, userId, stored.sealed_facts);
  const personKey = known?.personKey ?? ctx.random(32).toString('base64');
  const facts = factsOf(data, user.kind, personKey);
  const { person } = facts;
  if (stored !== undefined && stored.as_of > asOf) return { person, move: null };
  const move = findMove(before, data, asOf);
  const formerPlaces = withPlace(known?.formerPlaces ?? [], move);
  const version = (stored?.version ?? 0) + (fields.length > 0 ? 1 : 0);
  const sealed = sealPii(ctx.sealing, userId, data, { ...facts, formerPlaces });
  await upsertPii(tx, userId, { ...sealed, version, as_of: asOf });
  if (fields.length > 0)
    await insertAudit(tx, { user_id: userId, actor: 'identity provider', action: 'write', fields });
  return { person, move };
}

/** A place that is already listed gets the latest time. */
function withPlace(places: readonly FormerPlace[], move: Move | null): FormerPlace[] {
  if (move === null) return [...places];
  const keyOf = ({ country, region }: FormerPlace) => placeKey(country, region);
  const others = places.filter((place) => keyOf(place) !== keyOf(move.from));
  return [...others, move.from].slice(-MAX_FORMER_PLACES);
}

export async function readPiiFacts(
  ctx: Pick<Context, 'db' | 'openPiiFacts'>,
  userId: string,
): Promise<(PiiFacts & { version: number }) | null> {
  const row = await readSealedFacts(ctx.db, userId);
  if (row === undefined) return null;
  return { ...ctx.openPiiFacts(userId, row.sealed_facts), version: row.version };
}

const BATCH_SIZE = 100;

/** Reseals all personal data with the newest secret in batches, while the service keeps running. */
export async function rotatePii(ctx: Pick<Context, 'db' | 'sealing'>): Promise<number> {
  let rotated = 0;
  for (;;) {
    const count = await rotateBatch(ctx);
    rotated += count;
    if (count === 0 && (await countRowsToRotate(ctx.db, ctx.sealing.newestKeyId)) === 0) return rotated;
  }
}

async function rotateBatch({ db, sealing }: Pick<Context, 'db' | 'sealing'>): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const rows = await lockRowsToRotate(tx, sealing.newestKeyId, BATCH_SIZE);
    for (const { user_id, sealed, sealed_facts } of rows) {
      await replaceSealed(tx, user_id, {
        sealed: sealing.seal('pii', sealing.open('pii', sealed, user_id), user_id),
        sealed_facts: sealing.seal('pii facts', sealing.open('pii facts', sealed_facts, user_id), user_id),
      });
      await insertAudit(tx, { user_id, actor: 'operator', action: 'rotate', fields: [...PII_FIELDS] });
    }
    return rows.length;
  });
}
