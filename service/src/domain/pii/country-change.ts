import type { FormerPlace, PersonalData } from '../../kernel/model/personal-data.ts';
import { placeKey } from '../../kernel/places/areas.ts';
import { timestampOf } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { requireUser } from '../users/account.ts';
import { openFacts } from './sealed-data.ts';
import { approveChanges, insertAudit, listOpenChanges, lockPii, replaceFacts } from './store.ts';

/** A change of the country or region of residence. `from.left_at` is the time (`as_of`) of the new data. */
export type Move = { from: FormerPlace; to: { country: string | null; region: string | null } };

type Parts = Pick<Context, 'db' | 'clock' | 'sealing'>;

/** Returns null if the old country is unknown, or if the places are the same apart from spelling. */
export function findMove(before: PersonalData, after: PersonalData, at: string): Move | null {
  if (before.country === null) return null;
  const isSame =
    after.country !== null && placeKey(before.country, before.state) === placeKey(after.country, after.state);
  if (isSame) return null;
  return {
    from: { country: before.country, region: before.state, left_at: at },
    to: { country: after.country, region: after.state },
  };
}

export async function listCountryChanges({ db, sealing }: Pick<Parts, 'db' | 'sealing'>) {
  return (await listOpenChanges(db)).map(({ user_id, email, changed_at, sealed_facts }) => {
    const { country, region, formerPlaces = [] } = openFacts(sealing, user_id, sealed_facts);
    const from = formerPlaces.find(({ left_at }) => left_at === changed_at) ?? null;
    return { user_id, email, changed_at, from, to: { country, region } };
  });
}

export async function approveCountry(ctx: Parts, emailOrId: string): Promise<number> {
  return ctx.db.transaction().execute(async (tx) => {
    const user = await requireUser(tx, emailOrId);
    const stored = await lockPii(tx, user.id);
    if (stored !== undefined) {
      const { formerPlaces: _approved, ...facts } = openFacts(ctx.sealing, user.id, stored.sealed_facts);
      const sealed = ctx.sealing.seal('pii facts', Buffer.from(JSON.stringify(facts)), user.id);
      await replaceFacts(tx, user.id, sealed);
      const fields = ['country', 'state'];
      await insertAudit(tx, { user_id: user.id, actor: 'operator', action: 'write', fields });
    }
    return approveChanges(tx, user.id, timestampOf(ctx.clock));
  });
}
