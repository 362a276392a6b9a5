import { createWriteStream, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@causeway/service/config.ts';
import { buildContext, type Context } from '@causeway/service/context.ts';
import { startEmbedded } from '@causeway/service/db/embedded.ts';
import { migrate } from '@causeway/service/db/migrate.ts';
import { openPool } from '@causeway/service/db/pool.ts';
import { newCaller, SCOPES } from '@causeway/service/http/access.ts';
import { createLog } from '@causeway/service/log.ts';

/** The service's own parts on a database of their own, logging to a file; everything ends with the process. */
export async function benchContext(): Promise<{ ctx: Context; token: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
  const database = await startEmbedded({ dataDir, log: () => {} });
  const { pool } = openPool(database.url, { max: 1 });
  await migrate(pool);
  await pool.end();
  const config = {
    ...loadConfig({ CAUSEWAY_DATA: dataDir }),
    limits: { ...loadConfig({ CAUSEWAY_DATA: dataDir }).limits, api: 1e9 },
  };
  const log = createLog({ level: 'info', pretty: false, stream: createWriteStream(join(dataDir, 'log')) });
  const { ctx } = await buildContext({ config, baseUrl: 'http://127.0.0.1', databaseUrl: database.url, log });
  process.on('SIGTERM', () => database.stop().then(() => process.exit(0)));
  const caller = newCaller({
    clientId: 'bench',
    partnerId: 'bench',
    userId: '01890000-0000-7000-8000-000000000000',
    scopes: new Set(Object.keys(SCOPES)),
    origins: new Set<string>(),
  });
  const token = 'a'.repeat(43);
  const callers = new Map([[token, caller]]);
  return {
    ctx: { ...ctx, guard: { check: (text) => callers.get(text) ?? null, knowsOrigin: () => false } },
    token,
  };
}
