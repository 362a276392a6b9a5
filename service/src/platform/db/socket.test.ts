import { once } from 'node:events';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { LOCALHOST } from '../../../test/support/certificates.ts';
import { openDatabaseRelay } from '../../../test/support/database-relay.ts';
import { openPool } from './pool.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/**
 * Reads texts of several sizes on four connections at once, and compares them with the expected texts. Returns the
 * sockets of the connections.
 */
async function readTexts(url: string): Promise<unknown[]> {
  const { pool, close } = openPool(url, { max: 4 });
  const sockets: unknown[] = [];
  pool.on('connect', ({ connection }) => sockets.push(connection.stream));
  const sizes = [1, 4_000, 4_097, 65_536, 65_537, 200_000, 1_000_000, 3_000_000];
  try {
    const reads = sizes.map(async (size, index) => {
      const statement = 'select repeat($1::text, $2::int) as text from generate_series(1, 3)';
      const { rows } = await pool.query<{ text: string }>(statement, [`${index}`, size]);
      expect(rows.map((row) => row.text === `${index}`.repeat(size))).toEqual([true, true, true]);
    });
    await Promise.all(reads);
    return sockets;
  } finally {
    await close();
  }
}

test('replies arrive whole, whatever their size, without passing through a stream', async () => {
  const push = vi.spyOn(Socket.prototype, 'push');
  const sockets = await readTexts(database.url);
  expect(sockets).toHaveLength(4);
  // Other sockets of this process may receive something, too. Null marks the end of a connection.
  const pushed = push.mock.calls.filter(
    ([chunk], index) => chunk !== null && sockets.includes(push.mock.contexts[index]),
  );
  expect(pushed).toEqual([]);
});

test('connections can use TLS', async () => {
  let encrypted = 0;
  const relay = await openDatabaseRelay(database.url, async (socket) => {
    // The client asks for TLS first. `S` accepts.
    await once(socket, 'data');
    socket.write('S');
    return new TLSSocket(socket, { ...LOCALHOST, isServer: true }).on('secure', () => encrypted++);
  });
  try {
    await readTexts(`${relay.url}?sslmode=no-verify`);
    expect(encrypted).toBeGreaterThan(0);
  } finally {
    relay.close();
  }
});
