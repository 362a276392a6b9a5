import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@causeway/sandbox/postgres/server.ts';
import { buildContext } from '@causeway/service/compose.ts';
import { issueUserTokens } from '@causeway/service/domain/oauth/issue.ts';
import { createPartner } from '@causeway/service/domain/partners/partner.ts';
import { SCOPES } from '@causeway/service/kernel/access.ts';
import { type Config, type LimitName, loadConfig } from '@causeway/service/kernel/config/config.ts';
import { newId } from '@causeway/service/kernel/ids.ts';
import { createLog } from '@causeway/service/kernel/log.ts';
import { migrate } from '@causeway/service/platform/db/migrate.ts';
import { openPool } from '@causeway/service/platform/db/pool.ts';

/**
 * Builds a service context with a database of its own, one partner and one of its users. SIGTERM stops the database and
 * deletes its data.
 */
export async function benchContext(settings: Partial<Config> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
  const database = await startPostgres({ dataDir, log: () => {} });
  process.on('SIGTERM', async () => {
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
    process.exit(0);
  });
  const { pool } = openPool(database.url, { max: 1 });
  await migrate(pool);
  await pool.end();
  const config = { ...loadConfig({ CAUSEWAY_DATA: dataDir }), ...settings };
  for (const name of Object.keys(config.limits) as LimitName[]) config.limits[name] = 1e9;
  const log = createLog({ level: 'info', pretty: false, stream: createWriteStream(join(dataDir, 'log')) });
  const baseUrl = 'http://127.0.0.1';
  const { ctx } = await buildContext({ config, baseUrl, databaseUrl: database.url, log });
  const scopes = Object.keys(SCOPES);
  const redirectUris = ['https://partner.test/callback'];
  const partner = await createPartner(ctx, { name: 'Bench', redirectUris, scopes });
  const userId = newId(ctx.clock, ctx.random);
  await ctx.db
    .insertInto('users')
    .values({ id: userId, email: 'bench@user.test', kind: 'person', password_hash: null })
    .execute();
  const { access_token: token } = await issueUserTokens(ctx, { clientId: partner.client_id, userId, scopes });
  return { ctx, token, partner, userId, databaseUrl: database.url };
}
