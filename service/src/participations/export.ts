import type { Db } from '../db/pool.ts';
import { listParticipationsOf } from './export-store.ts';
import { showParticipation } from './participation.ts';
import type { Participation } from './schema.ts';

/** Returns the user's participations as the API shows them, that is, without internal reasons. */
export async function exportUser(db: Db, userId: string): Promise<Participation[]> {
  return (await listParticipationsOf(db, userId)).map(showParticipation);
}
