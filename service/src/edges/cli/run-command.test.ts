import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostgres, startPostgres } from '@causeway/sandbox/postgres/server.ts';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { testConfig } from '../../../test/support/app.ts';
import { ConfigError } from '../../kernel/config/config.ts';
import { migrate } from '../../platform/db/migrate.ts';
import { openPool } from '../../platform/db/pool.ts';
import { run as runOffer } from './offer-command.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'causeway-command-'));
const config = { ...testConfig(), databaseUrl: null, dataDir };
afterEach(() => vi.restoreAllMocks());
afterAll(() => rmSync(dataDir, { recursive: true }));

test('a command names the folder that has no database', async () => {
  await expect(runOffer(config, ['list'])).rejects.toThrow(ConfigError);
  await expect(runOffer(config, ['list'])).rejects.toThrow(`there is no database in ${dataDir}`);
});

test('offer close works on the embedded database while no service runs', async () => {
  const database = await startPostgres({ dataDir, log: () => undefined, settings: { fsync: 'off' } });
  const { pool } = openPool(database.url, { max: 1 });
  await migrate(pool);
  await pool.query(
    `insert into assets (id, code, name, fractional_digits) values ('usd-coin', 'USDC', 'USD Coin', 6)`,
  );
  await pool.query(`insert into offers (id, slug, type, name, logo_url, asset_id, inserted_at, updated_at)
    values (gen_random_uuid(), 'broken', 'platform::token_sale', 'Broken', 'https://x.test', 'usd-coin', now(), now())`);
  await pool.end();
  await database.stop();

  const said: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((text: string) => void said.push(text));
  const close = ['close', 'broken', '--reason', 'broken', '--yes'];
  await runOffer(config, close);
  await runOffer(config, close);
  expect(said.slice(-2)).toEqual(['broken: closed', 'broken: already closed']);
  expect(await findPostgres(dataDir)).toBeUndefined();
});
