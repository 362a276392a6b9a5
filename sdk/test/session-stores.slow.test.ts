import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type {} from '../../service/test/setup/cluster.ts';
import { installPackages } from '../../service/test/support/packages.ts';
import {
  createHandler,
  createSignIn,
  memorySessions,
  postgresSessions,
  type RedisClient,
  redisSessions,
  type Session,
  type SessionStorage,
  type SignInOptions,
} from '../src/server/index.ts';
import { type RedisServer, startRedisServer } from './redis-server.ts';

const ORIGIN = 'https://app.example';
const FROM_PAGE = { 'sec-fetch-site': 'same-origin', accept: 'application/json' };
const COOKIE = '__Host-causeway_session';
const options: SignInOptions = {
  ...{ baseUrl: 'https://causeway.example', clientId: 'c', clientSecret: 's', cookieSecret: 'x'.repeat(32) },
  redirectUri: `${ORIGIN}/callback`,
};
const newSession = (): Session => ({
  ...{ id: randomBytes(32).toString('base64url'), accessToken: 'access-1', refreshToken: 'refresh-1' },
  ...{ expiresAt: Date.now() + 900_000, refreshedAt: Date.now() - 60_000, scope: 'openid', user: undefined },
});

const database = `sdk_sessions_${randomBytes(4).toString('hex')}`;
const admin = new pg.Client({ connectionString: inject('cluster').url });
let pool: pg.Pool;
let redis: RedisServer | { problem: string };
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  await admin.connect();
  await admin.query(`create database ${database}`);
  const url = new URL(inject('cluster').url);
  url.pathname = `/${database}`;
  pool = new pg.Pool({ connectionString: url.href });
  redis = await startRedisServer();
}, 180_000);
afterAll(async () => {
  for (const close of closing) await close();
  await pool.end();
  await admin.query(`drop database ${database}`);
  await admin.end();
  if ('stop' in redis) await redis.stop();
});

async function nodeRedis(port: number): Promise<RedisClient> {
  const { createClient } = await import('@redis/client');
  const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect();
  closing.push(() => client.destroy());
  return client;
}

async function ioredis(port: number): Promise<RedisClient> {
  const folder = await installPackages('ioredis');
  const file = pathToFileURL(join(folder, 'node_modules/ioredis/built/index.js')).href;
  const { Redis } = (await import(file)) as {
    Redis: new (port: number) => RedisClient & { disconnect(): void };
  };
  const client = new Redis(port);
  closing.push(() => client.disconnect());
  return client;
}

const STORAGES: [string, () => Promise<SessionStorage | { problem: string }>][] = [
  ['memorySessions', async () => memorySessions()],
  ['postgresSessions', async () => postgresSessions(pool)],
  ...[nodeRedis, ioredis].map((open): (typeof STORAGES)[number] => [
    `redisSessions with ${open.name}`,
    async () => ('port' in redis ? redisSessions(await open(redis.port)) : redis),
  ]),
];

describe.each(STORAGES)('%s', (_name, open) => {
  test('stores, updates and deletes values, and drops expired ones', async ({ skip }) => {
    const storage = await open();
    if ('problem' in storage) return skip(storage.problem);
    const key = randomBytes(8).toString('hex');
    expect(await storage.read(key)).toBeUndefined();
    await storage.update(key, 'never', 60);
    expect(await storage.read(key)).toBeUndefined();
    await storage.write(key, 'one', 60);
    await storage.write(key, 'two', 60);
    expect(await storage.read(key)).toBe('two');
    await storage.update(key, 'three', 60);
    expect(await storage.read(key)).toBe('three');
    await storage.update(key, 'short', 1);
    await expect.poll(() => storage.read(key), { interval: 100 }).toBeUndefined();
    await storage.update(key, 'late', 60);
    expect(await storage.read(key)).toBeUndefined();
    await storage.write(key, 'again', 60);
    await storage.delete(key);
    expect(await storage.read(key)).toBeUndefined();
  }, 300_000);

  test('keeps tokens on the server, and encrypted; sign-out ends the session everywhere', async ({
    skip,
  }) => {
    const storage = await open();
    if ('problem' in storage) return skip(storage.problem);
    const stored: string[] = [];
    const recording: SessionStorage = {
      ...storage,
      write: (key, value, ttlS) => {
        stored.push(key, value);
        return storage.write(key, value, ttlS);
      },
    };
    const signIn = createSignIn({ ...options, store: recording, fetch: async () => Response.json({}) });
    const handler = createHandler(signIn);
    const session = newSession();
    const headers = new Headers();
    await signIn.store.save({ headers: {} }, headers, session);
    const [cookie = ''] = headers.getSetCookie();
    expect(cookie).toBe(`${COOKIE}=${session.id}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure`);
    expect(stored.join()).not.toMatch(/access-1|refresh-1/);
    expect(stored.join()).not.toContain(session.id);
    const request = { cookie: `${COOKIE}=${session.id}`, ...FROM_PAGE };
    const call = (path: string, method = 'GET') =>
      handler(new Request(ORIGIN + path, { method, headers: request }));
    expect((await (await call('/causeway/token')).json()).access_token).toBe('access-1');
    expect((await call('/causeway/sign-out', 'POST')).status).toBe(200);
    expect((await call('/causeway/token')).status).toBe(401);
    // Another process finishes its renewal after the sign-out.
    await signIn.store.save({ headers: request }, new Headers(), { ...session, refreshedAt: Date.now() });
    expect((await call('/causeway/token')).status).toBe(401);
  }, 300_000);
});

test('an id that the server did not issue, and a value of another session, sign nobody in', async () => {
  const storage = memorySessions();
  const { store } = createSignIn({ ...options, store: storage });
  const [mine, other] = [newSession(), newSession()];
  const values = new Map<string, string>();
  const moved: SessionStorage = { ...storage, write: async (key, value) => void values.set(key, value) };
  const writer = createSignIn({ ...options, store: moved }).store;
  for (const session of [mine, other]) await writer.save({ headers: {} }, new Headers(), session);
  const [mineKey = '', otherKey = ''] = values.keys();
  await storage.write(mineKey, values.get(otherKey) ?? '', 60);
  for (const id of [mine.id, other.id, '', 'x', '../../etc', "'; drop table x; --", 'a'.repeat(43)])
    expect(await store.load({ headers: { cookie: `${COOKIE}=${id}` } })).toBeUndefined();
  await storage.write(otherKey, values.get(otherKey) ?? '', 60);
  expect((await store.load({ headers: { cookie: `${COOKIE}=${other.id}` } }))?.id).toBe(other.id);
});

test('a new sign-in removes the earlier session of the browser', async () => {
  const { store } = createSignIn({ ...options, store: memorySessions() });
  const [first, second] = [newSession(), newSession()];
  await store.save({ headers: {} }, new Headers(), first);
  const request = { headers: { cookie: `${COOKIE}=${first.id}` } };
  await store.save(request, new Headers(), second);
  expect(await store.load(request)).toBeUndefined();
  expect((await store.load({ headers: { cookie: `${COOKIE}=${second.id}` } }))?.id).toBe(second.id);
});

test('memorySessions drops the oldest sessions above its limit', async () => {
  const storage = memorySessions({ maxSessions: 2 });
  for (const key of ['a', 'b', 'c']) await storage.write(key, key, 60);
  expect(await Promise.all(['a', 'b', 'c'].map((key) => storage.read(key)))).toEqual([undefined, 'b', 'c']);
});

test('postgresSessions creates its table once for concurrent processes, and removes expired rows', async () => {
  const table = 'public.many_sessions';
  const storages = Array.from({ length: 8 }, () => postgresSessions(pool, { table }));
  await Promise.all(storages.map((storage, index) => storage.write(`k${index}`, 'v', 0)));
  await storages[0]?.write('last', 'v', 60);
  const { rows } = await pool.query(`select key from ${table}`);
  expect(rows).toEqual([{ key: 'last' }]);
  for (const wrong of [
    'x; drop table y',
    'appSessions',
    'app.Sessions',
    'app.sessions.x',
    '1x',
    'x'.repeat(64),
  ])
    expect(() => postgresSessions(pool, { table: wrong })).toThrow(TypeError);
});

test('sessions in memory cause a warning in production', async () => {
  const warnings: unknown[] = [];
  const listen = (warning: Error & { code?: string }) => warnings.push(warning.code);
  const before = process.env.NODE_ENV;
  process.on('warning', listen);
  try {
    createSignIn(options);
    process.env.NODE_ENV = 'production';
    createSignIn({ ...options, store: memorySessions() });
    createSignIn(options);
    await expect.poll(() => warnings).toEqual(['CAUSEWAY_MEMORY_SESSIONS']);
  } finally {
    process.env.NODE_ENV = before;
    process.off('warning', listen);
  }
});
