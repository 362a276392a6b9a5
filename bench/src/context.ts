import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '@causeway/service/clock.ts';
import { buildContext } from '@causeway/service/compose.ts';
import { type Config, type LimitName, loadConfig } from '@causeway/service/config.ts';
import type { Context } from '@causeway/service/context.ts';
import { startEmbedded } from '@causeway/service/db/embedded.ts';
import { migrate } from '@causeway/service/db/migrate.ts';
import { openPool } from '@causeway/service/db/pool.ts';
import { SCOPES } from '@causeway/service/http/access.ts';
import { newId } from '@causeway/service/http/ids.ts';
import { createLog } from '@causeway/service/log.ts';
import { issueUserTokens } from '@causeway/service/oauth/issue.ts';
import { createPartner } from '@causeway/service/partners/partner.ts';

export type Bench = {
  ctx: Context;
  token: string;
  clientId: string;
  clientSecret: string;
  databaseUrl: string;
  dataDir: string;
};

/**
 * Builds a real service context that has its own embedded database and writes its log to a file. SIGTERM stops the
 * database and deletes its data.
 */
export async function benchContext(settings: Partial<Config> = {}, clock = realClock()): Promise<Bench> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
  const database = await startEmbedded({ dataDir, log: () => {} });
  const { pool } = openPool(database.url, { max: 1 });
  await migrate(pool);
  await pool.end();
  // With the default limits, a node on a busy machine would refuse requests, and the benchmark would fail.
  const patient = { MAX_EVENT_LOOP_LAG_MS: '60000', MAX_POOL_WAIT_MS: '60000' };
  const config = { ...loadConfig({ CAUSEWAY_DATA: dataDir, ...patient }), ...settings };
  for (const name of Object.keys(config.limits) as LimitName[]) config.limits[name] = 1e9;
  const log = createLog({ level: 'info', pretty: false, stream: createWriteStream(join(dataDir, 'log')) });
  const baseUrl = 'http://127.0.0.1';
  const { ctx } = await buildContext({ config, baseUrl, databaseUrl: database.url, log, clock });
  process.on('SIGTERM', async () => {
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
    process.exit(0);
  });
  const scopes = Object.keys(SCOPES);
  const { client_id: clientId, client_secret: clientSecret } = await createPartner(ctx, {
    name: 'Bench',
    redirectUris: ['https://partner.test/callback'],
    scopes,
  });
  const userId = newId(ctx.clock, ctx.random);
  await ctx.db
    .insertInto('users')
    .values({ id: userId, email: 'bench@user.test', kind: 'person', password_hash: null })
    .execute();
  const { access_token: token } = await issueUserTokens(ctx, { clientId, userId, scopes });
  return { ctx, token, clientId, clientSecret, databaseUrl: database.url, dataDir };
}
