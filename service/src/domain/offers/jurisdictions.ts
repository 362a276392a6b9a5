import type { Static } from 'typebox';
import type { JurisdictionDetails } from '../../kernel/model/requirement.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listPublishedDetails } from './store.ts';

/** Lists the jurisdiction filters of all published offers. */
export async function listJurisdictionFilters(db: Db): Promise<Static<typeof JurisdictionDetails>[]> {
  return (await listPublishedDetails(db, 'jurisdiction')) as Static<typeof JurisdictionDetails>[];
}
