import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Context } from '../../src/platform/context/context.ts';

/**
 * Expects the audit log to have an entry for each of these actions. `audit-kinds.test.ts` checks that every kind of
 * entry is expected somewhere.
 */
export async function expectAudited({ db }: Pick<Context, 'db'>, ...actions: string[]): Promise<void> {
  const { rows } = await sql<{ action: string }>`
    select distinct entry::jsonb ->> 'action' as action from audit_entries`.execute(db);
  expect(rows.map(({ action }) => action)).toEqual(expect.arrayContaining(actions));
}
