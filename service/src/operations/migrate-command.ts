import { type Config, ConfigError } from '../config.ts';
import { migrate, pendingMigrations } from '../db/migrate.ts';
import { openPool } from '../db/pool.ts';

export async function runMigrate(config: Config, isCheck: boolean): Promise<void> {
  if (config.databaseUrl === null)
    throw new ConfigError(['DATABASE_URL: is required here; the embedded database is migrated by `serve`']);
  const { pool } = openPool(config.databaseUrl, { max: 2 });
  try {
    const names = isCheck ? await pendingMigrations(pool) : await migrate(pool);
    console.log(
      names.length === 0
        ? 'The schema is up to date.'
        : `${isCheck ? 'Missing' : 'Applied'}: ${names.join(', ')}`,
    );
    if (isCheck && names.length > 0) process.exitCode = 1;
  } finally {
    await pool.end();
  }
}
