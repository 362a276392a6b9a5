import type pg from 'pg';
import { type MockInstance, vi } from 'vitest';

/** Returns how many connections the pool hands out while `work` runs, and how many statements these run. */
export async function countStatements(
  pool: pg.Pool,
  work: () => Promise<unknown>,
): Promise<{ connections: number; statements: number }> {
  const spies = new Map<pg.PoolClient, MockInstance>();
  let connections = 0;
  const count = (client: pg.PoolClient) => {
    connections++;
    if (!spies.has(client)) spies.set(client, vi.spyOn(client, 'query'));
  };
  pool.on('acquire', count);
  try {
    await work();
  } finally {
    pool.off('acquire', count);
  }
  let statements = 0;
  for (const spy of spies.values()) {
    statements += spy.mock.calls.length;
    spy.mockRestore();
  }
  return { connections, statements };
}
