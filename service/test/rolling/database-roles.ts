import { openPool } from '../../src/platform/db/pool.ts';

const ROLES = ['causeway_blue', 'causeway_green'] as const;

/**
 * Creates the two roles that docs/operators.md describes. Both act as the owner of the tables, so that either
 * can run migrations.
 */
export async function createRoles(url: string): Promise<typeof ROLES> {
  for (const role of ROLES) {
    await query(url, `create role ${role} login in role current_user`);
    await query(url, `do $$ begin execute format('alter role ${role} set role %I', current_user); end $$`);
  }
  return ROLES;
}

/**
 * Disables sign-in for the role and ends its sessions, as an operator does when others may know the password.
 */
export async function forbidSignIn(url: string, role: string): Promise<void> {
  await query(url, `alter role ${role} nologin`);
  await query(url, `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`);
}

export function withRole(url: string, role: string): string {
  const changed = new URL(url);
  changed.username = role;
  return changed.href;
}

/** Returns whether an operator key has sent a transaction that is not confirmed yet. */
export async function hasOpenTransaction(url: string): Promise<boolean> {
  return (await query(url, `select 1 from operator_transactions where state = 'open' limit 1`)).length > 0;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const { pool, close } = openPool(url, { max: 1 });
  return (await pool.query(text).finally(close)).rows;
}
