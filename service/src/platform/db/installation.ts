import { sql } from 'kysely';
import type pg from 'pg';
import { type Config, ConfigError } from '../../kernel/config/config.ts';
import type { Sealing } from '../../kernel/sealing.ts';
import type { Db } from './pool.ts';

type Profile = Config['profile'];

/**
 * Throws `ConfigError` if the database belongs to the other profile. Changes nothing, so it can run before migrations.
 */
export async function assertProfile(pool: pg.Pool, profile: Profile): Promise<void> {
  const known = await readProfile(pool);
  if (known !== undefined && known !== profile)
    throw new ConfigError([
      `CAUSEWAY_PROFILE: is ${profile}, but this database belongs to the ${known} profile; set CAUSEWAY_PROFILE=${known} or point DATABASE_URL to another database`,
    ]);
}

/**
 * Records the profile of a database that has no profile yet. Throws `ConfigError` if the database belongs to the other
 * profile.
 */
export async function claimProfile(pool: pg.Pool, profile: Profile): Promise<void> {
  await assertProfile(pool, profile);
  await pool.query('insert into installation (profile) values ($1) on conflict do nothing', [profile]);
  // Another node may have recorded the other profile in the meantime.
  await assertProfile(pool, profile);
}

/**
 * Returns the recorded profile. Before the first start, a database that has partners or offers counts as a production
 * database: commands have added them, because a sandbox records its profile before it adds anything.
 */
async function readProfile(pool: pg.Pool): Promise<Profile | undefined> {
  // Of the tables below, the migrations create this one last.
  const { rows: tables } = await pool.query<{ found: boolean }>(
    `select to_regclass('offers') is not null as found`,
  );
  if (!tables[0]?.found) return undefined;
  const { rows } = await pool.query<{ profile: Profile | null }>(
    `select coalesce((select profile from installation),
       case when exists (select from partners) or exists (select from offers) then 'production' end) as profile`,
  );
  return rows[0]?.profile ?? undefined;
}

/**
 * Records the newest configured secret, which this node seals data with. Throws `ConfigError` if the database may hold
 * data that none of the configured secrets can open.
 */
export async function claimSecrets(db: Db, sealing: Sealing): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('installation_secrets'))`.execute(tx);
    const recorded = await listFingerprints(tx);
    const standing = relate(recorded, sealing);
    if (standing === 'incomplete' || standing === 'unknown')
      throw new ConfigError([
        standing === 'incomplete'
          ? `CAUSEWAY_SECRET: ${MISSING_SECRET}`
          : 'CAUSEWAY_SECRET: is not the secret that the data in this database is sealed with; restore the old secret, or list it after the new one',
      ]);
    await sql`insert into installation_secrets (fingerprint) values (${sealing.fingerprints[0]})
      on conflict do nothing`.execute(tx);
  });
}

/** The error message if data is still sealed with a secret that is no longer configured. */
export const MISSING_SECRET =
  'lacks a secret that data in this database is still sealed with; list that secret again after the current one, and run `causeway keys rotate` before you remove it';

/**
 * How the configured secrets relate to the recorded ones. Data may be sealed with any recorded secret.
 * - `in use`: all recorded secrets are configured, and the newest configured secret is recorded.
 * - `not used yet`: all recorded secrets are configured, but the newest configured secret is not recorded.
 * - `incomplete`: some recorded secrets are configured and some are not.
 * - `unknown`: secrets are recorded, but none of them is configured.
 */
export type SecretStanding = 'in use' | 'incomplete' | 'unknown' | 'not used yet';

/**
 * Compares the configured secrets with the recorded secrets. Records nothing, because only a node that starts to use a
 * secret may record it.
 */
export async function compareSecrets(db: Db, sealing: Sealing): Promise<SecretStanding> {
  return relate(await listFingerprints(db), sealing);
}

function relate(recorded: readonly Buffer[], { fingerprints }: Sealing): SecretStanding {
  const isIn = (list: readonly Buffer[]) => (one: Buffer) => list.some((each) => each.equals(one));
  if (recorded.length > 0 && !fingerprints.some(isIn(recorded))) return 'unknown';
  if (!recorded.every(isIn(fingerprints))) return 'incomplete';
  return fingerprints.slice(0, 1).some(isIn(recorded)) ? 'in use' : 'not used yet';
}

/**
 * Deletes the records of all secrets except the newest one. Call it only after all data has been sealed with the newest
 * secret.
 */
export async function forgetOlderSecrets(db: Db, sealing: Sealing): Promise<void> {
  await sql`delete from installation_secrets where fingerprint <> ${sealing.fingerprints[0]}`.execute(db);
}

async function listFingerprints(db: Db): Promise<Buffer[]> {
  const { rows } = await sql<{ fingerprint: Buffer }>`select fingerprint from installation_secrets`.execute(
    db,
  );
  return rows.map(({ fingerprint }) => fingerprint);
}
