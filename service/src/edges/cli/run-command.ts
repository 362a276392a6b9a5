import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { realClock } from '../../kernel/clock.ts';
import { type Config, ConfigError } from '../../kernel/config/config.ts';
import { ApiError, UsageError } from '../../kernel/errors.ts';
import { plural } from '../../kernel/plural.ts';
import { createSealing, type Sealing, unavailableSealing } from '../../kernel/sealing.ts';
import { recordCommand } from '../../platform/audit/store.ts';
import { type Chains, openChains } from '../../platform/chain/open-chains.ts';
import type { Kernel } from '../../platform/context/kernel.ts';
import { compareSecrets, MISSING_SECRET } from '../../platform/db/installation.ts';
import { pendingMigrations } from '../../platform/db/migrate.ts';
import { type Db, openPool } from '../../platform/db/pool.ts';
import { openSandboxDatabase } from '../sandbox-database.ts';

/** The context of a command. A command works on the same database as the running nodes. */
export type CommandContext = Pick<Kernel, 'pool' | 'db' | 'clock' | 'random' | 'sealing'>;

/** Uses the embedded database if none is configured, whether or not the service is running. */
export async function runCommand<T>(config: Config, work: (ctx: CommandContext) => Promise<T>): Promise<T> {
  const embedded = config.databaseUrl === null ? await openSandboxDatabase(config.dataDir) : undefined;
  const url = config.databaseUrl ?? embedded?.url;
  if (url === undefined)
    throw new ConfigError([
      `DATABASE_URL: is not set, and there is no database in ${config.dataDir}; create one with "causeway serve", or set CAUSEWAY_DATA to the data directory of an existing one`,
    ]);
  const { pool, db, close } = openPool(url, { max: 2, applicationName: 'causeway-command' });
  try {
    await assertMigrated(pool, config);
    if (config.commandName !== undefined) await recordCommand(db, config.commandName);
    return await work({
      pool,
      db,
      clock: realClock(),
      random: randomBytes,
      sealing: await openSealing(config, db),
    });
  } catch (error) {
    throw error instanceof ApiError ? toUsageError(error) : error;
  } finally {
    await close();
    await embedded?.stop();
  }
}

/** Opens the configured chains while `work` runs. */
export async function withChains<T>(
  { rpcUrls, rpcFreshnessMs }: Config,
  work: (chains: Chains) => Promise<T>,
): Promise<T> {
  const chains = openChains({ urls: rpcUrls, freshnessMs: rpcFreshnessMs });
  try {
    return await work(chains);
  } finally {
    await chains.close();
  }
}

async function assertMigrated(pool: pg.Pool, { databaseUrl }: Config): Promise<void> {
  const { length } = await pendingMigrations(pool);
  if (length === 0) return;
  const remedy = databaseUrl === null ? 'restart the service to migrate' : 'run "causeway migrate"';
  throw new ConfigError([`DATABASE_URL: the database lacks ${plural(length, 'migration')}; ${remedy}`]);
}

/**
 * Creates a `Sealing`, which encrypts data and makes keyed hashes with the command's secrets. First compares these
 * secrets with those that the nodes use, and throws if the command and the nodes have no secret in common. Many
 * commands need no secret. So in the following cases, the returned `Sealing` throws only when the command calls one of
 * its methods:
 * - The command has no secret.
 * - The command lacks a secret that is in use.
 * - No node uses the command's first secret yet.
 */
async function openSealing({ secrets }: Config, db: Db): Promise<Sealing> {
  const refusal = (text: string) => new ConfigError([`CAUSEWAY_SECRET: ${text}`]);
  if (secrets.length === 0)
    return unavailableSealing(refusal('is required by this command; set it to the value that the nodes use'));
  const sealing = createSealing(secrets, randomBytes);
  const standing = await compareSecrets(db, sealing);
  if (standing === 'unknown')
    throw refusal('is not the secret that the nodes of this database use; set it to the value that they use');
  if (standing === 'in use') return sealing;
  if (standing === 'incomplete') return unavailableSealing(refusal(MISSING_SECRET));
  return unavailableSealing(
    refusal('starts with a secret that no node uses yet; add it to the nodes and restart them first'),
  );
}

/** Messages for individual fields replace the general message. */
function toUsageError({ message, details }: ApiError): UsageError {
  const lines = Object.entries(details).flatMap(([field, messages]) =>
    Array.isArray(messages) ? messages.map((each) => `${field}: ${each}`) : [],
  );
  return new UsageError(lines.length > 0 ? lines.join('\n') : message);
}
