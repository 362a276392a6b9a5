import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { postToken } from '../../../test/support/browser.ts';
import { makeClient } from '../../../test/support/tokens.ts';

const readParts = async ({ app }: TestApp) => (await app.inject({ url: '/health/ready' })).json().parts;

test('readiness reports the full disk that made a token request fail', async () => {
  const app = await testApp({ pages: false });
  const client = await makeClient(app.ctx);
  // Simulates a full disk: raises the error that PostgreSQL raises when it cannot extend a table.
  await app.ctx.pool.query(`create function refuse_write() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`);
  await app.ctx.pool.query(`create trigger disk_full before insert on oauth_tokens
    execute function refuse_write()`);
  expect((await readParts(app)).disk).toBe('ok');
  const reply = await postToken(app.app, client, { grant_type: 'client_credentials' });
  expect([reply.statusCode, reply.json().code]).toEqual([503, 'unavailable']);
  expect((await readParts(app)).disk).toBe('unavailable');
  await app.close();
});

/** Only root may mount a disk, and the database server must run on this machine. */
const canMount =
  process.getuid?.() === 0 &&
  process.platform === 'linux' &&
  (process.env.TEST_DATABASE_URL ?? process.env.DATABASE_URL) === undefined;

describe.skipIf(!canMount)('with a small disk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-full-disk-'));
  let database: TestDatabase;
  let app: TestApp;
  beforeAll(async () => {
    database = await createTestDatabase();
    const { pathname } = new URL(database.url);
    const { rows } = await queryOnce(
      database.url,
      "select split_part(pg_read_file('postmaster.pid'), e'\\n', 1) as pid",
    );
    const owner = statSync(`/proc/${rows[0].pid}`).uid;
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=4m,uid=${owner},mode=700`, 'tmpfs', folder]);
    await queryOnce(database.url, `create tablespace small location '${folder}'`);
    await queryOnce(database.url, `alter database ${pathname.slice(1)} set temp_tablespaces = small`);
    await queryOnce(database.url, 'alter table oauth_tokens set tablespace small');
    app = await testApp({ pages: false, databaseUrl: database.url });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
    await queryOnce(inject('cluster').url, 'drop tablespace small');
    execFileSync('umount', [folder]);
    rmdirSync(folder);
  });

  test('readiness reports a full disk before a request fails, and until there is space again', async () => {
    const client = await makeClient(app.ctx);
    const requestToken = () => postToken(app.app, client, { grant_type: 'client_credentials' });
    expect((await requestToken()).statusCode).toBe(200);
    expect((await readParts(app)).disk).toBe('ok');
    fill(join(folder, 'other-data'));
    await expect.poll(async () => (await readParts(app)).disk).toBe('unavailable');
    // Until the pages that the table has are full, its writes succeed.
    await expect.poll(async () => (await requestToken()).statusCode, { interval: 1 }).toBe(503);
    rmSync(join(folder, 'other-data'));
    expect((await requestToken()).statusCode).toBe(200);
    await expect.poll(async () => (await readParts(app)).disk, { timeout: 20_000 }).toBe('ok');
  });
});

async function queryOnce(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client(url);
  await client.connect();
  return client.query(text).finally(() => client.end());
}

function fill(file: string): void {
  try {
    for (;;) appendFileSync(file, Buffer.alloc(4096));
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOSPC') throw error;
  }
}
