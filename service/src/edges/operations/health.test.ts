import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { createLog } from '../../kernel/log.ts';
import { createReadiness } from './readiness.ts';

const log = createLog({ level: 'silent', pretty: false });
const fine = async () => {};
const broken = async () => {
  throw new Error('down');
};

describe('readiness', () => {
  test('only required parts decide', async () => {
    const degraded = createReadiness(new Map([['database', fine]]), new Map([['rpc:a', broken]]), log);
    expect(await degraded.read()).toEqual({
      isReady: true,
      parts: { database: 'ok', 'rpc:a': 'unavailable' },
    });
    const down = createReadiness(new Map([['database', broken]]), new Map([['rpc:a', fine]]), log);
    expect((await down.read()).isReady).toBe(false);
  });

  test('checks run at most once a second, but draining shows immediately', async () => {
    let calls = 0;
    const count = async () => void calls++;
    const readiness = createReadiness(new Map([['database', count]]), new Map(), log);
    await Promise.all([readiness.read(), readiness.read(), readiness.read()]);
    expect(calls).toBe(1);
    readiness.drain();
    expect((await readiness.read()).isReady).toBe(false);
    expect(calls).toBe(1);
  });
});

describe('a full disk', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp();
  });
  afterAll(() => app.close());

  test('answers writes with 503 and reads as before, and readiness says so', async () => {
    const { db } = app.ctx;
    // Simulates a full disk: raises the error that PostgreSQL raises when it cannot extend a table.
    await sql`create function refuse_write() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`.execute(db);
    await sql`create trigger disk_full before insert on wallet_challenges
      execute function refuse_write()`.execute(db);
    const headers = { authorization: `Bearer ${await app.tokenFor()}` };
    const write = await app.app.inject({
      method: 'POST',
      url: '/v1/wallet-ownership',
      headers,
      payload: { wallet_address: `0x${'1'.repeat(40)}`, chain: 'ethereum_sepolia' },
    });
    expect([write.statusCode, write.json().code]).toEqual([503, 'unavailable']);
    expect(write.headers['retry-after']).toBeDefined();
    expect((await app.app.inject({ url: '/v1/offers', headers })).statusCode).toBe(200);
    const ready = await app.app.inject({ url: '/health/ready' });
    expect([ready.statusCode, ready.json()]).toMatchObject([
      200,
      { status: 'degraded', parts: { database: 'ok', listener: 'ok', disk: 'unavailable' } },
    ]);
  });
});
