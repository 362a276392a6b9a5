import { createHash } from 'node:crypto';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';

// A query whose text varies (lists of values spelled out) must not fill the server's memory with plans.
const mostNamed = 1000;

/**
 * The pool as Kysely sees it: every distinct statement has a name, so that each connection parses and plans it once.
 * A connection that can no longer be trusted is closed instead of going back to the pool.
 */
export function nameStatements(pool: pg.Pool): PostgresPool {
  const names = new Map<string, string>();
  // Kysely knows a connection again by identity.
  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    async connect() {
      const client = await pool.connect();
      const known = wrapped.get(client) ?? wrapClient(client, names);
      wrapped.set(client, known);
      return known;
    },
    end: () => pool.end(),
  };
}

function wrapClient(client: pg.PoolClient, names: Map<string, string>): PostgresPoolClient {
  let spoilt = false;
  async function query(text: string, values: readonly unknown[]) {
    const name = nameStatement(names, text);
    try {
      return await client.query(name ? { name, text, values: [...values] } : { text, values: [...values] });
    } catch (error) {
      spoilt ||= isSpoiling(error);
      throw error;
    }
  }
  return {
    // The other overload is for cursors, which the dialect is not given.
    query: query as unknown as PostgresPoolClient['query'],
    release: () => client.release(spoilt),
  };
}

function nameStatement(names: Map<string, string>, text: string): string | undefined {
  const known = names.get(text);
  if (known) return known;
  if (names.size >= mostNamed || !/^\s*(select|insert|update|delete|merge|with)\b/i.test(text))
    return undefined;
  const name = createHash('sha256').update(text).digest('hex').slice(0, 32);
  names.set(text, name);
  return name;
}

/** A plan that a migration made void stays void on its connection; a query given up on still occupies its own. */
function isSpoiling(error: unknown): boolean {
  return error instanceof Error && /cached plan must not change|Query read timeout/.test(error.message);
}
