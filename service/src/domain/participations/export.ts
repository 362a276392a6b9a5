import type { Db } from '../../platform/db/pool.ts';
import type { Participation } from '../holdings/participation.ts';
import { listParticipationsOf } from './export-store.ts';
import { showParticipation } from './participation.ts';

/** Returns the user's participations as the API shows them, that is, without internal reasons. */
export async function exportUser(db: Db, userId: string): Promise<Participation[]> {
  return (await listParticipationsOf(db, userId)).map(showParticipation);
}
