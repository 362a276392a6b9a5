import type { Static } from 'typebox';
import type { Db } from '../db/pool.ts';
import type { JurisdictionDetails } from '../requirements/schema.ts';
import { listPublishedDetails } from './store.ts';

/** Lists the jurisdiction filters of all published offers. */
export async function listJurisdictionFilters(db: Db): Promise<Static<typeof JurisdictionDetails>[]> {
  return (await listPublishedDetails(db, 'jurisdiction')) as Static<typeof JurisdictionDetails>[];
}
