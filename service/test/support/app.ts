import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { buildContext } from '../../src/compose.ts';
import { accountsPlugin } from '../../src/domain/accounts/routes.ts';
import { accountDataPlugin } from '../../src/domain/erasure/plugin.ts';
import { oauthPlugin } from '../../src/domain/oauth/plugin.ts';
import { browserPages } from '../../src/edges/operations/browser-pages.ts';
import { apiRoutes } from '../../src/edges/routes.ts';
import type { Caller } from '../../src/kernel/access.ts';
import { type TestClock, testClock } from '../../src/kernel/clock.ts';
import { type Config, loadConfig } from '../../src/kernel/config/config.ts';
import type { Random } from '../../src/kernel/ids.ts';
import { createLog } from '../../src/kernel/log.ts';
import type { Context } from '../../src/platform/context/context.ts';
import { freePort } from '../../src/platform/http/listening.ts';
import type { Route } from '../../src/platform/http/route.ts';
import { buildServer, type Plugin } from '../../src/platform/http/server.ts';
import { createTestDatabase } from '../setup/database.ts';
import { TEST_SECRET } from '../setup/secret.ts';
import { issueTokenFor } from './tokens.ts';

export const START = Date.parse('2026-03-02T12:00:00Z');

export type TestApp = {
  app: FastifyInstance;
  ctx: Context;
  clock: TestClock;
  /** Returns everything logged so far, as lines of JSON. */
  logged(): string;
  /** Issues a real access token, and creates the partner, client and user if they are missing. */
  tokenFor(caller?: Partial<Caller>): Promise<string>;
  close(): Promise<void>;
};

/**
 * The seed of the random numbers. Two apps on one database need different seeds, because they must not
 * generate the same ids.
 */
let count = 0;

type Options = {
  routes?: readonly Route[];
  plugins?: readonly ((ctx: Context) => Plugin)[];
  /** Whether to serve the hosted pages. Default: true. */
  pages?: boolean;
  config?: Partial<Config>;
  databaseUrl?: string;
  /** Listens on a free port, for clients with their own HTTP stack. */
  listen?: boolean;
  /** The public base URL. If the app listens, its port is added. */
  baseUrl?: string;
};

/** Starts the real application in this process, with its own database, clock and seeded random numbers. */
export async function testApp({
  routes = apiRoutes,
  plugins = [],
  pages = true,
  config = {},
  databaseUrl,
  listen = false,
  baseUrl = listen ? 'http://127.0.0.1' : 'http://causeway.test',
}: Options = {}): Promise<TestApp> {
  const database = databaseUrl === undefined ? await createTestDatabase() : null;
  const clock = testClock(START);
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    pretty: false,
    stream: { write: (line) => void lines.push(line) },
  });
  const port = listen ? await freePort() : 0;
  const composed = await buildContext({
    config: { ...testConfig(), ...config },
    baseUrl: listen ? `${baseUrl}:${port}` : baseUrl,
    databaseUrl: databaseUrl ?? String(database?.url),
    log,
    clock,
    random: seededRandom(`causeway ${count++}`),
  });
  const { ctx } = composed;
  const extra = plugins.map((plugin) => plugin(ctx));
  const app = await buildServer(
    ctx,
    routes,
    [oauthPlugin(ctx), ...(pages ? [accountsPlugin(ctx), accountDataPlugin(ctx)] : []), ...extra],
    browserPages(ctx, null),
  );
  if (listen) await app.listen({ host: '127.0.0.1', port });
  return {
    app,
    ctx,
    clock,
    logged: () => {
      log.flushRequests();
      return lines.join('');
    },
    tokenFor: (caller = {}) => issueTokenFor(ctx, caller),
    close: async () => {
      await app.close();
      await composed.close();
      await database?.drop();
    },
  };
}

export function testConfig(): Config {
  return loadConfig({
    CAUSEWAY_SECRET: TEST_SECRET.toString('base64'),
    RATE_LIMIT_API: '1000000',
    RATE_LIMIT_DOCUMENTS: '1000000',
    RATE_LIMIT_AUTHORIZE: '1000000',
    // Sheds no load, because test machines may be busy with other work.
    MAX_EVENT_LOOP_LAG_MS: '60000',
    MAX_POOL_WAIT_MS: '60000',
  });
}

/** Returns the same sequence of bytes in every run. */
export function seededRandom(seed: string): Random {
  let count = 0;
  return (size) => {
    const blocks: Buffer[] = [];
    for (let length = 0; length < size; length += 32)
      blocks.push(createHash('sha256').update(`${seed}${count++}`).digest());
    return Buffer.concat(blocks).subarray(0, size);
  };
}
