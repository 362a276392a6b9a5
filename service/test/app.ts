import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { type TestClock, testClock } from '../src/clock.ts';
import { type Config, loadConfig } from '../src/config.ts';
import { buildContext, type Context } from '../src/context.ts';
import { type Caller, newCaller, SCOPES } from '../src/http/access.ts';
import type { Random } from '../src/http/ids.ts';
import type { Route } from '../src/http/route.ts';
import { buildServer } from '../src/http/server.ts';
import { createLog } from '../src/log.ts';
import { apiRoutes } from '../src/routes.ts';
import { createTestDatabase } from './setup/database.ts';

export const START = Date.parse('2026-03-02T12:00:00Z');

export type TestApp = {
  app: FastifyInstance;
  ctx: Context;
  clock: TestClock;
  /** Everything the service has logged, as lines of JSON. */
  logged(): string;
  /** An access token of this caller. */
  tokenFor(caller: Partial<Caller>): string;
  close(): Promise<void>;
};

/** Two apps on one database are two nodes: they must not draw the same ids. */
let count = 0;

type Options = { routes?: readonly Route[]; config?: Partial<Config>; databaseUrl?: string };

/** The real application in this process, on a database of its own, with its own clock and randomness. */
export async function testApp({
  routes = apiRoutes,
  config = {},
  databaseUrl,
}: Options = {}): Promise<TestApp> {
  const database = databaseUrl === undefined ? await createTestDatabase() : null;
  const clock = testClock(START);
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    pretty: false,
    stream: { write: (line) => void lines.push(line) },
  });
  const built = await buildContext({
    config: { ...testConfig(), ...config },
    baseUrl: 'http://causeway.test',
    databaseUrl: databaseUrl ?? String(database?.url),
    log,
    clock,
    random: seededRandom(`causeway ${count++}`),
  });
  const callers = new Map<string, Caller>();
  const origins = new Set<string>();
  const ctx: Context = {
    ...built.ctx,
    guard: { check: (token) => callers.get(token) ?? null, knowsOrigin: (origin) => origins.has(origin) },
  };
  const app = await buildServer(ctx, routes);
  return {
    app,
    ctx,
    clock,
    logged: () => {
      log.flushRequests();
      return lines.join('');
    },
    tokenFor: (caller) => {
      const token = `token-${callers.size}`;
      const whole = newCaller({ ...anyCaller(), ...caller });
      for (const origin of whole.origins) origins.add(origin);
      callers.set(token, whole);
      return token;
    },
    close: async () => {
      await app.close();
      await built.close();
      await database?.drop();
    },
  };
}

export function testConfig(): Config {
  const secret = createHash('sha256').update('test').digest('base64');
  return loadConfig({ CAUSEWAY_SECRET: secret, RATE_LIMIT_API: '1000000', RATE_LIMIT_DOCUMENTS: '1000000' });
}

function anyCaller() {
  return {
    clientId: 'partner-one',
    partnerId: '01890000-0000-7000-8000-000000000001',
    userId: '01890000-0000-7000-8000-0000000000aa',
    scopes: new Set(Object.keys(SCOPES)),
    origins: new Set<string>(),
  };
}

/** The same bytes in every run, never the same twice in one. */
export function seededRandom(seed: string): Random {
  let count = 0;
  return (size) => {
    const blocks: Buffer[] = [];
    for (let length = 0; length < size; length += 32)
      blocks.push(createHash('sha256').update(`${seed}${count++}`).digest());
    return Buffer.concat(blocks).subarray(0, size);
  };
}
