import { createHash } from 'node:crypto';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';

// Queries with varying text, such as inlined lists, must not fill the server's memory with plans.
const MAX_NAMED_STATEMENTS = 1_000;

/**
 * Wraps the pool for Kysely: every distinct statement gets a name, so that each connection prepares it once. A connection
 * in an unreliable state is closed instead of returned to the pool.
 */
export function nameStatements(pool: pg.Pool): PostgresPool {
  const names = new Map<string, string>();
  // Kysely recognizes a connection by identity.
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
  let isBroken = false;
  async function query(text: string, values: readonly unknown[]) {
    const name = nameStatement(names, text);
    try {
      return await client.query(name ? { name, text, values: [...values] } : { text, values: [...values] });
    } catch (error) {
      isBroken ||= breaksConnection(error);
      throw error;
    }
  }
  return {
    // The other overload is for cursors, which we do not use.
    query: query as unknown as PostgresPoolClient['query'],
    release: () => client.release(isBroken),
  };
}

function nameStatement(names: Map<string, string>, text: string): string | undefined {
  const known = names.get(text);
  if (known) return known;
  if (names.size >= MAX_NAMED_STATEMENTS || !/^\s*(select|insert|update|delete|merge|with)\b/i.test(text))
    return undefined;
  const name = createHash('sha256').update(text).digest('hex').slice(0, 32);
  names.set(text, name);
  return name;
}

/** A plan invalidated by a migration stays invalid on its connection, and a timed-out query still occupies it. */
function breaksConnection(error: unknown): boolean {
  return error instanceof Error && /cached plan must not change|Query read timeout/.test(error.message);
}
