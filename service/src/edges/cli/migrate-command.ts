import { parseArgs } from 'node:util';
import { type Config, ConfigError } from '../../kernel/config/config.ts';
import { migrate, pendingMigrations } from '../../platform/db/migrate.ts';
import { openPool } from '../../platform/db/pool.ts';
import { assertSessions } from '../../platform/db/session-check.ts';
import type { CommandHelp } from './command.ts';

export const help: CommandHelp = {
  usage: ['migrate [--check]'],
  description:
    'Applies pending migrations to the database that DATABASE_URL points to. Safe to run from several machines concurrently. The service also migrates when it starts, which is the only way to migrate the embedded database.',
  options: {
    '--check': 'Change nothing; list the pending migrations and exit with 1 if there are any.',
  },
  examples: {
    migrate: 'Bring the schema up to date',
    'migrate --check': 'Check in a deployment pipeline whether migrations are pending',
  },
};

export async function run(config: Config, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { check: { type: 'boolean', default: false } } });
  if (config.databaseUrl === null)
    throw new ConfigError([
      'DATABASE_URL: is required by migrate; to migrate the embedded database, run "causeway serve"',
    ]);
  const url = config.databaseListenUrl ?? config.databaseUrl;
  await assertSessions(config.databaseUrl, url);
  const { pool } = openPool(url, { max: 2 });
  try {
    const names = values.check ? await pendingMigrations(pool) : await migrate(pool);
    const label = values.check ? 'Pending' : 'Applied';
    console.log(names.length === 0 ? 'The schema is up to date.' : `${label}: ${names.join(', ')}`);
    if (values.check && names.length > 0) process.exitCode = 1;
  } finally {
    await pool.end();
  }
}
