import { hash } from '@node-rs/argon2';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { expectAudited } from '../../../test/support/audited.ts';
import { makeUser, USER } from '../../../test/support/tokens.ts';
import { newVisitor } from '../../../test/support/visitor.ts';
import { holdUser } from '../../domain/users/hold.ts';
import { createSealing } from '../../kernel/sealing.ts';
import { createCheckpointKeys, openCheckpoint, signCheckpoint } from './checkpoint.ts';
import { auditPlugin } from './plugin.ts';
import { sealAuditLog, startAuditSealer } from './sealer.ts';
import {
  appendToTiles,
  findBlindingKey,
  findNewestCheckpoint,
  insertCheckpoint,
  listSealedEntries,
  recordCommand,
  type SealedEntry,
} from './store.ts';
import { keepCheckpointKeys } from './tagged-records.ts';
import { appendLeaf, collectTiles, hashEntry, rootOf, type Tree } from './tree.ts';
import { verifyAuditLog } from './verify.ts';

const ORIGIN = 'causeway.test/audit';
const ADA = '01890000-0000-7000-8000-0000000000ad';
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ plugins: [auditPlugin] });
  await makeUser(app.ctx, USER);
});
afterAll(() => app.close());

/** Changes the log, as an attacker with the database owner's privileges could. */
const attack = (...statements: string[]) =>
  app.ctx.db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    for (const statement of statements) await sql.raw(statement).execute(tx);
  });
const write = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => recordCommand(app.ctx.db, `test ${n}`)));
/** Returns the service's context with the given secrets, newest first. */
const under = (...secrets: Buffer[]) => ({
  ...app.ctx,
  sealing: createSealing(secrets, app.ctx.random),
});
/** Writes entries and seals them, with the secrets of the service or the given ones. */
const seal = async (count: number, ...secrets: Buffer[]) => {
  await write(count);
  await sealAuditLog(secrets.length > 0 ? under(...secrets) : app.ctx, 0);
};
const problem = async (kept: string[] = []) => (await verifyAuditLog(app.ctx, kept)).problem;
const problemUnder = async (...secrets: Buffer[]) => (await verifyAuditLog(under(...secrets))).problem;
const entries = async () =>
  (await listSealedEntries(app.ctx.db, 0, 10_000)).map(({ entry }) => JSON.parse(entry));

beforeEach(async () => {
  await attack(
    ...[
      'truncate audit_entries restart identity',
      'truncate audit_checkpoints',
      'truncate audit_former_keys',
      'truncate audit_start',
      'truncate audit_tiles',
    ],
  );
});

describe('the sealer', () => {
  const value = async (name: string) => {
    const metric = await app.ctx.metrics.registry.getSingleMetric(`causeway_audit_sealing_${name}`)?.get();
    return metric?.values[0]?.value ?? Number.NaN;
  };

  test('reports when it last succeeded, and every failure', async () => {
    await write(2);
    await sealAuditLog(app.ctx, 0);
    await attack(`update audit_checkpoints set note = 'forged', at = now() - interval '1 minute'`);
    await write(1);
    const startedAt = app.ctx.clock.now() / 1000;
    const stop = startAuditSealer(app.ctx, 10);
    try {
      const first = await value('last_run_timestamp_seconds');
      expect(first).toBeGreaterThanOrEqual(startedAt);
      app.clock.advance(60);
      await expect.poll(() => value('failures_total'), { timeout: 10_000 }).toBeGreaterThan(0);
      expect(await value('last_run_timestamp_seconds')).toBe(first);
      await attack('truncate audit_entries restart identity', 'truncate audit_checkpoints, audit_tiles');
      await expect.poll(() => value('last_run_timestamp_seconds'), { timeout: 10_000 }).toBe(first + 60);

      // If a forged checkpoint looks new and covers the whole log, no new checkpoint is due, but verification still
      // fails.
      await write(2);
      await expect.poll(() => findNewestCheckpoint(app.ctx.db), { timeout: 10_000 }).toBeDefined();
      await attack(`update audit_checkpoints set note = 'forged', at = now() + interval '1 second'`);
      const fail = async () => {
        const failures = await value('failures_total');
        app.clock.advance(60);
        await expect.poll(() => value('failures_total'), { timeout: 10_000 }).toBeGreaterThan(failures);
        return value('last_run_timestamp_seconds');
      };
      const last = await fail();
      expect(await fail()).toBe(last);
    } finally {
      await stop();
    }
  });
});

describe('the audit log', () => {
  test('has entries of the transactions that they report, without personal data', async () => {
    await app.tokenFor();
    await holdUser(app.ctx, USER, 'Ada Lovelace called');
    await sql`update users set held_at = null where id = ${USER}`.execute(app.ctx.db);
    await expect(
      app.ctx.db.transaction().execute(async (tx) => {
        await recordCommand(tx, 'rolled back');
        throw new Error('rolled back');
      }),
    ).rejects.toThrow();
    await sealAuditLog(app.ctx, 0);
    const found = await entries();
    expect(found.map(({ action }) => action)).toEqual(expect.arrayContaining(['consent.given', 'user.held']));
    expect(found.find(({ action }) => action === 'user.held')).toEqual({
      ...{ object: 'audit_entry', at: expect.stringMatching(/\.\d{6}Z$/), action: 'user.held' },
      ...{ actor: { object: 'service', id: null }, subject: { object: 'user', id: USER }, request_id: null },
      reason: null,
      detail_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(JSON.stringify(found)).not.toMatch(/Ada|@|rolled back/);
  });

  test('names a sign-in as failed only if it failed, and a mail or a new hash as neither', async () => {
    const email = 'ada@audit.test';
    await makeUser(app.ctx, ADA, email);
    const old = await hash('quiet harbour lantern', { memoryCost: 8192, timeCost: 1, parallelism: 1 });
    await sql`update users set password_hash = ${old} where id = ${ADA}`.execute(app.ctx.db);
    await attack('truncate audit_entries restart identity');
    const submit = async (path: string, fields: Record<string, string>) => {
      const visitor = newVisitor(app.app);
      await visitor.get(path);
      return (await visitor.post(path, fields)).statusCode;
    };
    expect([
      await submit('/sign-in', { email, password: 'quiet harbour lantern' }),
      await submit('/forgot', { email }),
      await submit('/sign-in', { email, password: 'wrong' }),
      await submit('/sign-in', { email: 'unknown@audit.test', password: 'wrong' }),
    ]).toEqual([303, 200, 422, 422]);
    await sealAuditLog(app.ctx, 0);
    await expectAudited(app.ctx, 'user.password_rehashed');
    expect((await entries()).map(({ action, subject }) => [action, subject.id])).toEqual([
      ['user.password_rehashed', ADA],
      ['user.signed_in', ADA],
      ['user.sign_in_failed', ADA],
      ['user.sign_in_failed', null],
    ]);
  });

  test('is one tree however many write and seal at once', async () => {
    await write(500);
    await Promise.all([1, 2, 3, 4].map(() => sealAuditLog(app.ctx, 0)));
    expect(await verifyAuditLog(app.ctx)).toMatchObject({ entries: 500, problem: null });
    expect(
      openCheckpoint(
        createCheckpointKeys(app.ctx.sealing),
        (await findNewestCheckpoint(app.ctx.db))?.note ?? '',
      )?.size,
    ).toBe(500);
  });

  test('refuses changes, deletions and truncation', async () => {
    await write(3);
    await sealAuditLog(app.ctx, 0);
    for (const statement of [
      "update audit_entries set entry = '{}'",
      'update audit_entries set position = position + 10',
      'delete from audit_entries',
      'truncate audit_entries',
      'delete from audit_checkpoints',
    ])
      await expect(sql.raw(statement).execute(app.ctx.db)).rejects.toThrow('cannot be changed');
  });

  test.each([
    [
      'a changed entry',
      ["update audit_entries set entry = entry || ' ' where position = 5"],
      'entry 5 differs from its hash',
    ],
    ['a removed entry', ['delete from audit_entries where position = 5'], 'entry 5 is missing'],
    [
      'a removed entry whose place was closed',
      [
        'delete from audit_entries where position = 5',
        'update audit_entries set position = -position where position > 5',
        'update audit_entries set position = -position - 1 where position < 0',
      ],
      'entry 5 differs from its hash',
    ],
    [
      'an inserted entry',
      [
        'update audit_entries set position = -position where position >= 5',
        'update audit_entries set position = -position + 1 where position < 0',
        "insert into audit_entries (entry, position) values ('{}', 5)",
      ],
      'entry 5 differs from its hash',
    ],
    [
      'swapped entries',
      [
        'update audit_entries set position = -5 where position = 5',
        'update audit_entries set position = 5 where position = 6',
        'update audit_entries set position = 6 where position = -5',
      ],
      'entry 5 differs from its hash',
    ],
    ['a truncated tail', ['delete from audit_entries where position > 8'], 'entry 9 is missing'],
    [
      'a forged checkpoint',
      ["update audit_checkpoints set note = replace(note, '10', '11') where size = 10"],
      'the checkpoint of 10 entries is not signed',
    ],
    [
      'a removed newest checkpoint',
      ['delete from audit_checkpoints where size = 10'],
      'signed for 4 entries, but level 0 of the tiles has 10 hashes',
    ],
    ['removed checkpoints', ['delete from audit_checkpoints'], 'signed for 0 entries'],
  ])('verification names %s', async (_case, statements, expected) => {
    await seal(4);
    await seal(6);
    expect(await problem()).toBeNull();
    await attack(...statements);
    expect(await problem()).toContain(expected);
  });

  test('a tree that was recomputed as a whole differs from its checkpoints', async () => {
    await seal(10);
    await rewrite();
    expect(await problem()).toContain('the first 10 entries were rewritten');
  });

  test('a database that was rolled back, tiles and checkpoints included, differs from a kept checkpoint', async () => {
    await seal(4);
    await seal(6);
    const kept = (await findNewestCheckpoint(app.ctx.db))?.note ?? '';
    await attack(
      'delete from audit_entries where position > 4',
      'delete from audit_checkpoints where size > 4',
    );
    expect(await problem()).toContain('entry 5 is missing');
    await attack('update audit_tiles set hashes = substr(hashes, 1, 4 * 32)');
    expect(await problem()).toBeNull();
    expect(await problem([kept])).toContain('entry 5 is missing: a checkpoint was signed for 10 entries');
    expect(await problem([kept.replace('10', '04')])).toContain('not signed');
  });

  test('publishes its newest checkpoint', async () => {
    const read = () => app.app.inject('/audit/checkpoint');
    expect((await read()).json().code).toBe('not_found');
    await write(3);
    await sealAuditLog(app.ctx, 0);
    const reply = await read();
    expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(openCheckpoint(createCheckpointKeys(app.ctx.sealing), reply.body)?.size).toBe(3);
  });

  test('verifies after the secret was replaced twice, and trusts no key that was inserted into the database', async () => {
    const [a, b, c, stranger] = [1, 2, 3, 4].map((n) => Buffer.alloc(32, n)) as [
      Buffer,
      Buffer,
      Buffer,
      Buffer,
    ];
    await seal(2, a);
    await keepCheckpointKeys(under(b, a));
    await seal(2, b);
    await keepCheckpointKeys(under(c, b));
    await seal(2, c);
    expect(await verifyAuditLog(under(c))).toEqual({ start: 0, entries: 6, checkpoints: 3, problem: null });

    // A removed secret can vouch for a key only if its own key signed the newest checkpoint, so hide the newest.
    await expect(keepCheckpointKeys(under(b, stranger))).rejects.toThrow('not signed');
    const newest = await findNewestCheckpoint(app.ctx.db);
    await attack('delete from audit_checkpoints where size > 4');
    await keepCheckpointKeys(under(b, stranger));
    await insertCheckpoint(app.ctx.db, newest as NonNullable<typeof newest>);
    expect(await problemUnder(c)).toBeNull();
    await expect(seal(2, stranger)).rejects.toThrow('not signed');
    const forged = { size: 3, hash: Buffer.alloc(32) };
    const note = signCheckpoint(createCheckpointKeys(under(stranger).sealing), ORIGIN, forged);
    await insertCheckpoint(app.ctx.db, { size: 3, note });
    expect(await problemUnder(c)).toContain('not signed');
  });

  test('a key of a removed secret is not recorded as valid for a checkpoint that nobody signed', async () => {
    const [removed, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    await seal(2, removed);
    await insertCheckpoint(app.ctx.db, { size: 900, note: 'forged' });
    await expect(keepCheckpointKeys(under(current, removed))).rejects.toThrow('not signed');
  });

  test('somebody with the database and a removed secret cannot rewrite the log unnoticed', async () => {
    const [removed, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    await seal(5, removed);
    await seal(1, removed, current);
    await keepCheckpointKeys(under(current, removed));
    await seal(2, current, removed);
    await seal(2, current);
    expect(await verifyAuditLog(under(current))).toEqual({
      start: 0,
      entries: 10,
      checkpoints: 4,
      problem: null,
    });

    // The attacker changes an entry, recomputes the tree, and signs checkpoints of the forged tree with the removed
    // secret.
    const roots = await rewrite();
    const forge = async (size: number) => {
      await attack('truncate audit_checkpoints');
      const checkpoint = { size, hash: roots[size - 1] as Buffer };
      const note = signCheckpoint(createCheckpointKeys(under(removed).sealing), ORIGIN, checkpoint);
      await insertCheckpoint(app.ctx.db, { size, note });
    };
    await forge(10);
    expect(await problemUnder(current)).toContain('the first 6 entries were rewritten');
    await forge(5);
    expect(await problemUnder(current)).toContain('the first 6 entries were rewritten');
    await attack('delete from audit_entries where position > 5');
    expect(await problemUnder(current)).toContain('entry 6 is missing');
    await attack('update audit_tiles set hashes = substr(hashes, 1, 5 * 32)');
    expect(await problemUnder(current)).toContain(
      'entry 6 is missing: a checkpoint was signed for 6 entries',
    );
    // The nodes would continue the forged log, but what they sign does not hide it.
    await seal(5, current);
    expect(await problemUnder(current)).toContain('the first 6 entries were rewritten');
    await attack('delete from audit_former_keys');
    expect(await problemUnder(current)).toContain('not signed');
  });

  test('a removed secret signs nothing for entries that were written after it was replaced', async () => {
    const [removed, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    await seal(3, removed);
    await keepCheckpointKeys(under(current, removed));
    // `size` is the number of entries up to which the removed key may verify checkpoints. An attacker who raises `size`
    // invalidates the tag, a keyed hash that covers `size`.
    await attack('update audit_former_keys set size = 100');
    expect(await problemUnder(current)).toContain('not signed');
    await attack('update audit_former_keys set size = 3');
    expect(await problemUnder(current)).toBeNull();
    await seal(2, removed);
    expect(await problemUnder(current)).toContain('not signed');
  });

  test('checkpoints of an older secret still verify, those of a stranger do not', () => {
    const keys = (...secrets: number[]) =>
      createCheckpointKeys({ tags: () => secrets.map((n) => Buffer.alloc(32, n)) });
    const checkpoint = { size: 3, hash: Buffer.alloc(32, 9) };
    const note = signCheckpoint(keys(1), ORIGIN, checkpoint);
    expect(openCheckpoint(keys(2, 1), note)).toEqual(checkpoint);
    expect(openCheckpoint(keys(3), note)).toBeNull();
    // During a rotation, a verifier that knows only the older key accepts new checkpoints too.
    expect(openCheckpoint(keys(1), signCheckpoint(keys(2, 1), ORIGIN, checkpoint))).toEqual(checkpoint);
  });
});

/** Changes an entry and recomputes the tree and all tiles. Returns the root of the tree of every size. */
async function rewrite(): Promise<Buffer[]> {
  const { db } = app.ctx;
  await attack("update audit_entries set entry = '{}' where position = 3", 'truncate audit_tiles');
  const key = await findBlindingKey(db);
  const tree: Tree = { size: 0, peaks: [] };
  const { onTileHash, take } = collectTiles(0);
  const roots = (await listSealedEntries(db, 0, 100)).map(({ position, entry }: SealedEntry) => {
    appendLeaf(tree, hashEntry(key, position, entry), onTileHash);
    return rootOf(tree);
  });
  await appendToTiles(db, take());
  return roots;
}
