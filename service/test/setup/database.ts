import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { databaseUrl, runStatements } from './cluster.ts';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Creates a migrated, otherwise empty database. Usually each test file has its own. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(inject('cluster').template);
}

/** Creates an empty database, for tests of the migrations themselves. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase('template0');
}

/**
 * Copies a database to which no client is connected. The copy is like a backup that was restored elsewhere.
 */
export function copyTestDatabase({ url }: TestDatabase): Promise<TestDatabase> {
  return createDatabase(new URL(url).pathname.slice(1));
}

async function createDatabase(source: string): Promise<TestDatabase> {
  const { url, template } = inject('cluster');
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  await runStatements(url, [`create database ${name} template ${source}`]);
  return {
    url: databaseUrl(url, name),
    drop: () => runStatements(url, [`drop database if exists ${name} with (force)`]),
  };
}
