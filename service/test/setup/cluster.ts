import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@causeway/sandbox/postgres/server.ts';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { loadSigningKeys } from '../../src/domain/oauth/keys.ts';
import { createSealing } from '../../src/kernel/sealing.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openPool } from '../../src/platform/db/pool.ts';
import { claimServer } from './claim.ts';
import { TEST_SECRET } from './secret.ts';

/** The server that hosts the test databases, and the template they are copied from. */
export interface TestCluster {
  url: string;
  template: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    cluster: TestCluster;
  }
}

// Durability is off, because test data need not survive a crash. Autovacuum is off, because the template cannot be
// copied while autovacuum is connected to it.
const DISPOSABLE_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Not the default, so that tests notice code that ignores this setting.
  reserved_connections: '1',
};

/** Starts one server and creates one migrated template for the whole run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL ?? process.env.DATABASE_URL;
  const server = given ? { url: given, stop: async () => undefined } : await startOwnServer();
  try {
    await claimServer(server.url);
    const template = await createTemplate(server.url);
    project.provide('cluster', { url: server.url, template });
    return async () => {
      if (given) await dropTemplate(given, template);
      await server.stop();
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function startOwnServer() {
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-test-'));
  const server = await startPostgres({ dataDir, log: () => undefined, settings: DISPOSABLE_SETTINGS });
  const stop = async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: server.url, stop };
}

async function createTemplate(url: string): Promise<string> {
  const template = `causeway_test_${randomBytes(6).toString('hex')}`;
  await runStatements(url, [`create database ${template}`]);
  const { pool, db, close } = openPool(databaseUrl(url, template));
  try {
    await migrate(pool);
    // Generating a key takes longer than most tests, so all tests share one key.
    await loadSigningKeys({ db, sealing: createSealing([TEST_SECRET], randomBytes), random: randomBytes });
  } finally {
    await close();
  }
  await runStatements(url, [`alter database ${template} with allow_connections false is_template true`]);
  return template;
}

async function dropTemplate(url: string, template: string): Promise<void> {
  await runStatements(url, [
    `alter database ${template} with is_template false`,
    `drop database ${template}`,
  ]);
}

export async function runStatements(url: string, statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
