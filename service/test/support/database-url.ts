import type { TestApp } from './app.ts';

/** Returns the URL of the app's database, for commands that connect to it themselves. */
export async function databaseUrlOf({ ctx: { pool } }: TestApp): Promise<string> {
  const { rows } = await pool.query('select current_database() as name');
  const url = new URL(String(pool.options.connectionString));
  url.pathname = `/${rows[0].name}`;
  return url.href;
}
