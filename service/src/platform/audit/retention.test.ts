import { setTimeout } from 'node:timers/promises';
import { type KyselyPlugin, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { createSealing } from '../../kernel/sealing.ts';
import { createCheckpointKeys, openStored } from './checkpoint.ts';
import { deleteOldAuditEntries } from './retention.ts';
import { sealAuditLog } from './sealer.ts';
import {
  findBlindingKey,
  findNewestCheckpoint,
  listSealedEntries,
  putStart,
  readReasons,
  recordCommand,
} from './store.ts';
import { keepCheckpointKeys, moveStart } from './tagged-records.ts';
import { hashEntry } from './tree.ts';
import { verifyAuditLog } from './verify.ts';

const DAY_MS = 86_400_000;
const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

/** Returns the service's context with the given secrets, if any, and a clock that is `days` days ahead. */
const under = (days: number, ...secrets: Buffer[]) => ({
  ...app.ctx,
  ...(secrets.length > 0 && { sealing: createSealing(secrets, app.ctx.random) }),
  clock: { ...app.ctx.clock, now: () => Date.now() + days * DAY_MS },
});
/** Returns the service's context at the time at which all entries so far, and no later ones, have expired. */
const afterRetention = async (...secrets: Buffer[]) => {
  await setTimeout(5);
  const now = Date.now() + app.ctx.config.retention.auditDays * DAY_MS;
  await setTimeout(5);
  return { ...under(0, ...secrets), clock: { ...app.ctx.clock, now: () => now } };
};
const verify = async (...secrets: Buffer[]) => verifyAuditLog(under(0, ...secrets));
const positions = async () => (await listSealedEntries(app.ctx.db, 0, 1_000)).map(({ position }) => position);
const attack = (...statements: string[]) =>
  app.ctx.db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    for (const statement of statements) await sql.raw(statement).execute(tx);
  });
/** Writes entries and signs a checkpoint that covers the whole log. */
const seal = async (count: number, ...secrets: Buffer[]) => {
  for (let n = 0; n < count; n++) await recordCommand(app.ctx.db, `test ${n}`);
  await sealAuditLog(under(0, ...secrets), 0);
};

beforeEach(async () => {
  await attack('truncate audit_entries restart identity', 'truncate audit_checkpoints');
  await attack('truncate audit_former_keys', 'truncate audit_start', 'truncate audit_tiles');
});

describe('entries past their retention', () => {
  test('are deleted up to a checkpoint, and the rest still verifies, also against a checkpoint kept elsewhere', async () => {
    await seal(4);
    const early = (await findNewestCheckpoint(app.ctx.db))?.note ?? '';
    await seal(3);
    const kept = (await findNewestCheckpoint(app.ctx.db))?.note ?? '';
    const later = await afterRetention();
    await seal(2);
    await sql`insert into audit_reasons select written, gen_random_uuid(), 'sold' from audit_entries
      where position in (1, 8)`.execute(app.ctx.db);
    await deleteOldAuditEntries(under(10));
    expect(await positions()).toHaveLength(9);
    expect([...(await readReasons(app.ctx.db)).keys()]).toEqual([1, 8]);
    await deleteOldAuditEntries(later);
    expect(await positions()).toEqual([8, 9]);
    expect([...(await readReasons(app.ctx.db)).keys()]).toEqual([8]);
    await seal(2);
    expect(await verifyAuditLog(app.ctx, [early, kept])).toMatchObject({
      ...{ start: 7, entries: 4, problem: null },
      // The stored checkpoints of 7, 9 and 11 entries, and the two that were kept: the hashes of deleted entries stay.
      checkpoints: 5,
    });
    await deleteOldAuditEntries(await afterRetention());
    expect(await positions()).toEqual([]);
    expect(await app.ctx.db.selectFrom('audit_reasons').selectAll().execute()).toEqual([]);
    expect(await verify()).toMatchObject({ start: 11, entries: 0, problem: null });
    await seal(1);
    expect(await positions()).toEqual([12]);
    expect(await verifyAuditLog(app.ctx, [early, kept])).toMatchObject({ start: 11, problem: null });
  });

  test('stay if one of them was changed, because they are evidence', async () => {
    await seal(4);
    await seal(2);
    await attack("update audit_entries set entry = entry || ' ' where position = 2");
    await expect(deleteOldAuditEntries(await afterRetention())).rejects.toThrow('entry 2 differs');
    const changed = (await listSealedEntries(app.ctx.db, 1, 1))[0]?.entry ?? '';
    const leaf = hashEntry(await findBlindingKey(app.ctx.db), 2, changed).toString('hex');
    await attack(`update audit_tiles set hashes = overlay(hashes placing '\\x${leaf}'::bytea from 33)`);
    await expect(deleteOldAuditEntries(await afterRetention())).rejects.toThrow(
      'differ from a signed checkpoint',
    );
    expect(await positions()).toHaveLength(6);
  });

  test('are verified and deleted in steps', async () => {
    for (let n = 0; n < 4; n++) await seal(3);
    await attack("update audit_entries set entry = entry || ' ' where position = 8");
    const later = await afterRetention();
    await expect(deleteOldAuditEntries(later, 5)).rejects.toThrow('entry 8 differs');
    expect(await positions()).toEqual([7, 8, 9, 10, 11, 12]);
    // A step always reaches the next checkpoint, even if that exceeds the step's limit.
    await seal(3);
    await attack('update audit_entries set entry = rtrim(entry) where position = 8');
    await deleteOldAuditEntries(later, 1);
    expect(await positions()).toEqual([13, 14, 15]);
    expect(await verify()).toMatchObject({ start: 12, problem: null });
  });

  test('can be deleted while the log is verified', async () => {
    await seal(4);
    const later = await afterRetention();
    await seal(3);
    let runs = 0;
    const deleteMeanwhile: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (runs++ === 2) await deleteOldAuditEntries(later);
        return result;
      },
    };
    const db = app.ctx.db.withPlugin(deleteMeanwhile);
    expect(await verifyAuditLog({ ...app.ctx, db })).toMatchObject({ start: 0, entries: 7, problem: null });
    expect(await verify()).toMatchObject({ start: 4, entries: 3, problem: null });
  });

  test('stay if only their checkpoint was made to look old', async () => {
    await seal(4);
    await seal(2);
    await attack("update audit_checkpoints set at = now() - interval '20 years'");
    await expect(deleteOldAuditEntries(under(0))).rejects.toThrow('entry 1 is newer than a checkpoint');
    expect(await positions()).toHaveLength(6);
  });
});

describe('somebody who owns the tables', () => {
  test('cannot shorten the log: a removed secret makes no start, and a start is valid for one log only', async () => {
    await seal(4, OLD);
    const { db, sealing, random } = { ...app.ctx, sealing: createSealing([OLD], app.ctx.random) };
    const checkpoint = await findNewestCheckpoint(db);
    const fourth = openStored(createCheckpointKeys(sealing), checkpoint as NonNullable<typeof checkpoint>);
    await seal(2, OLD);
    await keepCheckpointKeys(under(0, NEW, OLD));
    await attack('delete from audit_entries where position <= 4');
    await putStart(db, fourth, random(32));
    expect((await verify(NEW)).problem).toContain('where the log starts is not signed');
    await moveStart({ db, sealing }, fourth);
    expect((await verify(NEW)).problem).toContain('where the log starts is not signed');
    await expect(deleteOldAuditEntries(await afterRetention(NEW))).rejects.toThrow('not signed');
    await moveStart(under(0, NEW), { ...fourth, hash: random(32) });
    expect((await verify(NEW)).problem).toContain('the first 4 entries were rewritten');
    await moveStart(under(0, NEW), fourth);
    expect((await verify(NEW)).problem).toBeNull();
  });

  test('cannot delete more than the signed start allows', async () => {
    await seal(4);
    const later = await afterRetention();
    await seal(2);
    await deleteOldAuditEntries(later);
    for (const statement of ['delete from audit_entries', 'delete from audit_checkpoints'])
      await expect(sql.raw(statement).execute(app.ctx.db)).rejects.toThrow('cannot be changed');
    await attack('delete from audit_entries where position = 5');
    expect((await verify()).problem).toContain('entry 5 is missing');
    await attack('delete from audit_start');
    expect((await verify()).problem).toContain('entry 1 is missing');
  });
});

/** Attacks by a role that may only read and write rows and create temporary tables. */
describe('somebody who may only write rows', () => {
  const run = async (...statements: string[]) => {
    for (const statement of statements)
      await sql
        .raw(statement)
        .execute(app.ctx.db)
        .catch(() => undefined);
  };
  test.each([
    ['insert a start, empty the log and delete the start', [], ['delete from audit_start']],
    ['insert a start, empty the log and truncate the start', [], ['truncate audit_start']],
    ['raise the start, cut off the newest entries and lower it again', [7], []],
  ])('is named if they %s', async (_case, sizes, cleanUp) => {
    await seal(4);
    await seal(3);
    const later = await afterRetention();
    await seal(2);
    for (const _ of sizes) await deleteOldAuditEntries(later);
    const before = (await positions()).at(0) ?? 0;
    await run(
      "insert into audit_start (size, root_hash, tag) values (100, '', '') on conflict (only_row) do update set size = 100",
      `delete from audit_entries where position > ${sizes.length > 0 ? before : 0}`,
      `delete from audit_checkpoints where size > ${sizes[0] ?? 0}`,
      ...cleanUp,
      ...sizes.map((size) => `update audit_start set size = ${size}`),
    );
    expect((await verify()).problem).not.toBeNull();
  });

  test('cannot hide the start behind a temporary table', async () => {
    await seal(4);
    await app.ctx.db.connection().execute(async (db) => {
      await sql`create temporary table audit_start as select 4::bigint as size`.execute(db);
      try {
        await expect(sql`delete from audit_entries`.execute(db)).rejects.toThrow('cannot be changed');
      } finally {
        await sql`drop table pg_temp.audit_start`.execute(db);
      }
    });
  });

  test('cannot divert entries to a temporary table', async () => {
    await app.ctx.db.connection().execute(async (db) => {
      await sql`create temporary table audit_entries (entry text)`.execute(db);
      try {
        await recordCommand(db, 'diverted');
      } finally {
        await sql`drop table pg_temp.audit_entries`.execute(db);
      }
    });
    await seal(0);
    expect(await positions()).toEqual([1]);
  });
});

test('the start of the log verifies after the secret was replaced', async () => {
  await seal(4, OLD);
  const later = await afterRetention(OLD);
  await seal(2, OLD);
  await deleteOldAuditEntries(later);
  await keepCheckpointKeys(under(0, NEW, OLD));
  await seal(1, NEW);
  expect(await verify(NEW)).toMatchObject({ start: 4, entries: 3, problem: null });
});
