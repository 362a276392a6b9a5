import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { callAtCommit } from './commit-calls.ts';
import { type Db, type OpenPool, openPool } from './pool.ts';
import { commitSteps, newStep, readSteps, runStep, runSteps, type Step } from './together.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Returns how often the pool's connection writes to the server while `work` runs. */
async function countWrites({ pool }: Pick<OpenPool, 'pool'>, work: () => Promise<unknown>): Promise<number> {
  const client = await pool.connect();
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  client.release();
  const write = vi.spyOn(stream, 'write');
  try {
    await work();
    return write.mock.calls.length;
  } finally {
    write.mockRestore();
  }
}

describe.each([
  ['a direct connection', {}, { tagged: 3, together: 2 }],
  ['a pooler', { isPooled: true }, null],
] as const)('transactions on %s', (_, options, writes) => {
  const actor = { object: 'user', id: 'one' };
  let one: OpenPool;
  beforeAll(async () => {
    one = openPool(database.url, { max: 1, ...options });
    await one.pool.query('create table if not exists steps (id int primary key, text text)');
    await one.pool.query('truncate steps');
  });
  afterAll(() => one.close());

  const insertion = (db: Db, id: number) =>
    newStep(sql<{ id: number }>`insert into steps values (${id}) returning id`.compile(db), (rows) =>
      rows.map((row) => row.id),
    );
  const count = (db: Db) =>
    newStep(sql<{ n: number }>`select count(*)::int as n from steps`.compile(db), ([row]) => row?.n);

  test('carry their tags, and begin together with the first statement', async () => {
    const read = (requestId: string, who: typeof actor | null) =>
      one
        .tagged({ requestId, actor: who })
        .transaction()
        .execute(async (tx) => {
          const text = sql<{ request: string; actor: string | null; level: number }>`
          select current_setting('causeway.request_id') as request,
            nullif(current_setting('causeway.actor', true), '') as actor`;
          await text.execute(tx);
          return (await text.execute(tx)).rows[0];
        });
    for (const id of ['a', "b'; drop table steps; --"]) {
      expect(await read(id, actor)).toEqual({ request: id, actor: JSON.stringify(actor) });
      expect(await read(id, null)).toEqual({ request: id, actor: null });
    }
    expect(
      (await sql`select nullif(current_setting('causeway.request_id', true), '') as id`.execute(one.db)).rows,
    ).toEqual([{ id: null }]);
    // Expected writes: `begin` with the first statement, then the second statement, then the commit.
    if (writes !== null) expect(await countWrites(one, () => read('c', actor))).toBe(writes.tagged);
  });

  test('run steps in order and in one round trip', async () => {
    const run = (from: number) =>
      one.db.transaction().execute((tx) =>
        runSteps(tx, {
          before: count(tx),
          first: insertion(tx, from),
          between: count(tx),
          second: insertion(tx, from + 1),
          after: count(tx),
        }),
      );
    expect(await run(1)).toEqual({ before: 0, first: [1], between: 1, second: [2], after: 2 });
    expect(await run(3)).toEqual({ before: 2, first: [3], between: 3, second: [4], after: 4 });
    if (writes !== null) expect(await countWrites(one, () => run(5))).toBe(writes.together);
    expect(await one.db.transaction().execute((tx) => runStep(tx, count(tx)))).toBe(writes === null ? 4 : 6);
    await expect(runSteps(one.db, { count: count(one.db) })).rejects.toThrow('steps require a transaction');
  });

  test('are not needed to read in one round trip', async () => {
    const skipped = undefined as Step<void> | undefined;
    const read = () => readSteps(one.db, { first: count(one.db), skipped, second: count(one.db) });
    const n = await runStep(one.db, count(one.db));
    for (let i = 0; i < 2; i++) expect(await read()).toEqual({ first: n, second: n });
    if (writes !== null) expect(await countWrites(one, read)).toBe(1);
    const failing = newStep(sql`select 1 / 0`.compile(one.db), () => undefined);
    for (const steps of [
      { failing, count: count(one.db) },
      { count: count(one.db), failing },
    ])
      for (let i = 0; i < 2; i++) await expect(readSteps(one.db, steps)).rejects.toThrow('division by zero');
    expect(await read()).toEqual({ first: n, second: n });
  });

  test('commit in the same round trip as their last steps', async () => {
    const run = (from: number) =>
      one
        .tagged({ requestId: 'r', actor })
        .transaction()
        .execute((tx) => commitSteps(tx, { first: insertion(tx, from), count: count(tx) }));
    const before = await runStep(one.db, count(one.db));
    expect(await run(500)).toEqual({ first: [500], count: Number(before) + 1 });
    expect(await run(501)).toEqual({ first: [501], count: Number(before) + 2 });
    if (writes !== null) expect(await countWrites(one, () => run(502))).toBe(1);
    else await run(502);
    for (let i = 0; i < 2; i++) await expect(run(502)).rejects.toMatchObject({ code: '23505' });
    // An error after the commit undoes nothing, and the connection stays usable.
    const unreadable = one.db
      .transaction()
      .execute((tx) => commitSteps(tx, { bad: { ...insertion(tx, 503), read: () => assert.fail('bad') } }));
    await expect(unreadable).rejects.toThrow('bad');
    const late = one.db.transaction().execute(async (tx) => {
      await commitSteps(tx, { inserted: insertion(tx, 504) });
      await runStep(tx, insertion(tx, 505));
    });
    await expect(late).rejects.toThrow('the transaction that this statement belongs to has ended');
    const calls = one.db.transaction().execute(async (tx) => {
      await callAtCommit(tx, 'append_events', []);
      await commitSteps(tx, { inserted: insertion(tx, 506) });
    });
    await expect(calls).rejects.toThrow('the transaction has calls to make at its commit');
    await one.db.transaction().execute((tx) => runStep(tx, insertion(tx, 507)));
    const undone = one.db.transaction().execute(async (tx) => {
      await runStep(tx, insertion(tx, 508));
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    const { rows } = await one.pool.query('delete from steps where id >= 500 returning id');
    expect(rows.map(({ id }) => id)).toEqual([500, 501, 502, 503, 504, 507]);
  });

  test('skip the steps after one that fails, and change nothing', async () => {
    const before = await runStep(one.db, count(one.db));
    const fail = () =>
      one.db
        .transaction()
        .execute((tx) =>
          runSteps(tx, { first: insertion(tx, 100), again: insertion(tx, 100), last: insertion(tx, 101) }),
        );
    for (let i = 0; i < 2; i++) await expect(fail()).rejects.toMatchObject({ code: '23505' });
    expect(await runStep(one.db, count(one.db))).toBe(before);
    // `pg` cannot send this value, so nothing reaches the server. The connection stays usable.
    const bad = { toPostgres: () => assert.fail('not a value') };
    const unsendable = () =>
      one.db.transaction().execute((tx) =>
        runSteps(tx, {
          first: insertion(tx, 102),
          bad: newStep(sql`select * from steps where id = ${bad}`.compile(tx), () => null),
        }),
      );
    for (let i = 0; i < 2; i++) await expect(unsendable()).rejects.toThrow('not a value');
    expect(await runStep(one.db, count(one.db))).toBe(before);
  });

  test('run no statement outside the transaction if it cannot begin', async () => {
    const before = await runStep(one.db, count(one.db));
    const tagged = one.tagged({ requestId: 'nul \u0000', actor: null });
    // PostgreSQL rejects the tag, so the transaction cannot begin. The second statement waits for the first.
    const attempts = () =>
      tagged
        .transaction()
        .execute((tx) =>
          Promise.allSettled([runStep(tx, insertion(tx, 200)), runStep(tx, insertion(tx, 201))]),
        );
    for (let i = 0; i < 2; i++) {
      const settled = await attempts().catch((error: Error) => error);
      if (Array.isArray(settled))
        expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      else expect(settled).toBeInstanceOf(Error);
    }
    expect(await runStep(one.db, count(one.db))).toBe(before);
  });

  test('run no statement after the rollback of a callback that did not wait for them', async () => {
    const before = await runStep(one.db, count(one.db));
    const left: Promise<unknown>[] = [];
    // The statements are new to the connection, so they are sent one by one.
    const leave = (tx: Db, id: number) => {
      const inserted = sql`insert into steps values (${id}, ${String(id)})`.execute(tx);
      left.push(inserted.catch(() => undefined));
      return inserted;
    };
    const abandoned = one
      .tagged({ requestId: 'abandoned', actor: null })
      .transaction()
      .execute((tx) => Promise.all([leave(tx, 400), leave(tx, 401), Promise.reject(new Error('early'))]));
    const next = one.db.transaction().execute((tx) => runStep(tx, count(tx)));
    await expect(abandoned).rejects.toThrow('early');
    expect(await next).toBe(before);
    await Promise.all(left);
    const unsendable = { toPostgres: () => assert.fail('unsendable') };
    const later = one.db.transaction().execute(async (tx) => {
      await runStep(tx, count(tx));
      const steps = runSteps(tx, {
        first: newStep(sql`insert into steps values (402, 'b')`.compile(tx), () => null),
        second: newStep(sql`insert into steps values (403, 'b') returning id`.compile(tx), () => null),
      });
      left.push(steps.catch(() => undefined));
      await Promise.all([sql`select ${unsendable}::text`.execute(tx), steps]);
    });
    await expect(later).rejects.toThrow('unsendable');
    await Promise.all(left);
    expect(await runStep(one.db, count(one.db))).toBe(before);
  });

  test('refuse a statement that comes after a commit with calls', async () => {
    const left: Promise<unknown>[] = [];
    await one.db.transaction().execute(async (tx) => {
      await runStep(tx, count(tx));
      await callAtCommit(tx, 'append_events', []);
      // The first statement is sent before the commit. The second waits for the first, so it comes after the commit.
      for (const id of [410, 411])
        left.push(runStep(tx, insertion(tx, id)).catch((error: Error) => error.message));
    });
    expect(await Promise.all(left)).toEqual([
      [410],
      'the transaction that this statement belongs to has ended',
    ]);
    const { rows } = await one.pool.query('delete from steps where id >= 410 returning id');
    expect(rows).toEqual([{ id: 410 }]);
  });

  test('make no calls of another transaction that came too late', async () => {
    let late: Promise<unknown> = Promise.resolve();
    await one
      .tagged({ requestId: 'a', actor })
      .transaction()
      .execute(async (tx) => {
        await runStep(tx, count(tx));
        // Not awaited, so this call comes while the transaction is being committed.
        late = setImmediate().then(() => callAtCommit(tx, 'append_events', [{ bad: true }]));
      });
    await late;
    await one
      .tagged({ requestId: 'b', actor })
      .transaction()
      .execute((tx) => runStep(tx, count(tx)));
  });

  test('make no calls at the commit if they could not begin', async () => {
    const refused = one
      .tagged({ requestId: 'nul \u0000', actor: null })
      .transaction()
      .execute(async (tx) => {
        await callAtCommit(tx, 'append_events', []);
        await runStep(tx, count(tx)).catch(() => undefined);
      });
    await expect(refused).rejects.toThrow();
  });

  test('send no rollback on a connection that is closed anyway', async () => {
    await one.pool.query('create table if not exists replaced (id int)');
    const read = () => one.db.transaction().execute((tx) => sql`select * from replaced`.execute(tx));
    for (let i = 0; i < 2; i++) await read();
    await one.pool.query('alter table replaced add column more text');
    const sent = await countWrites(one, () => expect(read()).rejects.toThrow('cached plan'));
    // Two writes: the whole transaction, and the message that closes the connection.
    if (writes !== null) expect(sent).toBe(2);
    expect((await read()).rows).toEqual([]);
    await one.pool.query('drop table replaced');
  });

  test('that run no statement send nothing and leave nothing behind', async () => {
    const nothing = () => one.db.transaction().execute(async () => undefined);
    await nothing();
    expect(await countWrites(one, nothing)).toBe(0);
    await one.db
      .transaction()
      .execute(async () => Promise.reject(new Error('no')))
      .catch(() => undefined);
    // A statement outside a transaction is committed at once.
    await runStep(one.db, insertion(one.db, 300));
    const { rows } = await one.pool.query('select count(*)::int as n from steps where id = 300');
    expect(rows).toEqual([{ n: 1 }]);
  });

  test('a step sees what another transaction committed while an earlier step waited for its lock', async () => {
    const other = openPool(database.url, { max: 1 });
    const lock = (db: Db) =>
      newStep(sql`select from steps where id = 300 for update`.compile(db), () => null);
    const text = (db: Db) =>
      newStep(sql<{ text: string }>`select text from steps where id = 300`.compile(db), ([row]) => row?.text);
    const read = () => one.db.transaction().execute((tx) => runSteps(tx, { lock: lock(tx), text: text(tx) }));
    for (const value of ['a', 'b', 'c']) {
      const holder = await other.db.startTransaction().execute();
      await sql`update steps set text = ${value} where id = 300`.execute(holder);
      const reading = read();
      const isWaiting = sql<{ n: number }>`select count(*)::int as n from pg_locks where not granted`;
      while ((await isWaiting.execute(holder)).rows[0]?.n === 0) await sleep(5);
      await holder.commit().execute();
      expect((await reading).text).toBe(value);
    }
    await other.close();
  });
});
