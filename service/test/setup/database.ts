import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { databaseUrl, runStatements } from './cluster.ts';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A migrated, otherwise empty database of its own; one per test file is the habit. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url, template } = inject('cluster');
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  await runStatements(url, [`create database ${name} template ${template}`]);
  return {
    url: databaseUrl(url, name),
    drop: () => runStatements(url, [`drop database if exists ${name} with (force)`]),
  };
}
