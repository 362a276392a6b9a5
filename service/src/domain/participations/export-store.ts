import type { Db } from '../../platform/db/pool.ts';
import { API_COLUMNS, type ParticipationRow } from '../holdings/participation-store.ts';

/** Lists the user's participations with all partners, oldest first. */
export async function listParticipationsOf(db: Db, userId: string): Promise<ParticipationRow[]> {
  return db
    .selectFrom('participations')
    .select(API_COLUMNS)
    .where('user_id', '=', userId)
    .orderBy('inserted_at')
    .orderBy('id')
    .execute();
}
