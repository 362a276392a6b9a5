import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { deleteOldKeys } from './keys.ts';

/** Longer than any request that still works with it, and than clocks may differ. */
const KEPT = '1 hour';

/** Deletes expired tokens, codes and sessions, then grants on which nothing is left. */
export async function deleteExpiredGrants(ctx: Pick<Context, 'db'>): Promise<void> {
  await sql`delete from oauth_tokens where expires_at < now() - ${KEPT}::interval`.execute(ctx.db);
  await sql`delete from oauth_artifacts where expires_at < now() - ${KEPT}::interval`.execute(ctx.db);
  // A browser's session (14 days) may come back to a grant on which nothing is left at the moment.
  await sql`delete from oauth_grants g where revoked_at < now() - ${KEPT}::interval or (
    inserted_at < now() - interval '15 days'
    and not exists (select from oauth_tokens t where t.grant_id = g.id)
    and not exists (select from oauth_artifacts a where a.grant_id = g.id))`.execute(ctx.db);
  await deleteOldKeys(ctx);
}
