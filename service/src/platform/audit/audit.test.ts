import { hash } from '@node-rs/argon2';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { expectAudited } from '../../../test/support/audited.ts';
import { makeUser, USER } from '../../../test/support/tokens.ts';
import { newVisitor } from '../../../test/support/visitor.ts';
import { holdUser } from '../../domain/users/hold.ts';
import { createSealing } from '../../kernel/sealing.ts';
import { EMPTY_CHAIN, hashChain, hashEntry } from './chain.ts';
import { createCheckpointKeys, openCheckpoint, openTreeCheckpoint, signCheckpoint } from './checkpoint.ts';
import { recordCommand } from './entry.ts';
import { keepCheckpointKeys } from './former-keys.ts';
import { auditPlugin } from './plugin.ts';
import { sealAuditLog, startAuditSealer } from './sealer.ts';
import { findTreeCheckpoint, insertTreeCheckpoint, listSealedEntries } from './store.ts';
import { verifyAuditLog } from './verify.ts';

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
const problem = async (kept: string[] = []) => (await verifyAuditLog(app.ctx, kept)).problem;
const entries = async () =>
  (await listSealedEntries(app.ctx.db, 0n, 10_000)).map(({ entry }) => JSON.parse(entry));

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
      await expect.poll(() => findTreeCheckpoint(app.ctx.db), { timeout: 10_000 }).toBeDefined();
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

  test('is one chain however many write and seal at once', async () => {
    await write(500);
    await Promise.all([1, 2, 3, 4].map(() => sealAuditLog(app.ctx, 0)));
    const { entries: count, problem: found } = await verifyAuditLog(app.ctx);
    expect([count, found]).toEqual([500n, null]);
    expect(
      openTreeCheckpoint(
        createCheckpointKeys(app.ctx.sealing),
        (await findTreeCheckpoint(app.ctx.db))?.note ?? '',
      )?.size,
    ).toBe(500n);
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
      'entry 5 was changed',
    ],
    ['a removed entry', ['delete from audit_entries where position = 5'], 'entry 5 is missing'],
    [
      'a removed entry whose place was closed',
      [
        'delete from audit_entries where position = 5',
        'update audit_entries set position = -position where position > 5',
        'update audit_entries set position = -position - 1 where position < 0',
      ],
      'entry 5 does not follow entry 4',
    ],
    [
      'an inserted entry',
      [
        'update audit_entries set position = -position where position >= 5',
        'update audit_entries set position = -position + 1 where position < 0',
        "insert into audit_entries (entry, position, leaf_hash, chain_hash) values ('{}', 5, sha256('\\x007b7d'), '\\x00')",
      ],
      'entry 5 does not follow entry 4',
    ],
    [
      'swapped entries',
      [
        'update audit_entries set position = -5 where position = 5',
        'update audit_entries set position = 5 where position = 6',
        'update audit_entries set position = 6 where position = -5',
      ],
      'entry 5 does not follow entry 4',
    ],
    ['a truncated tail', ['delete from audit_entries where position > 8'], 'entry 9 is missing'],
    [
      'a forged checkpoint',
      ["update audit_checkpoints set note = replace(note, '10', '11')"],
      'a checkpoint is not signed',
    ],
  ])('verification names %s', async (_case, statements, expected) => {
    await write(10);
    await sealAuditLog(app.ctx, 0);
    expect(await problem()).toBeNull();
    await attack(...statements);
    expect(await problem()).toContain(expected);
  });

  test('a chain that was recomputed as a whole differs from its checkpoints', async () => {
    await write(10);
    await sealAuditLog(app.ctx, 0);
    await recompute();
    expect(await problem()).toContain('the first 10 entries were rewritten');
  });

  test('a database that was rolled back, checkpoints included, differs from a kept checkpoint', async () => {
    await write(10);
    await sealAuditLog(app.ctx, 0);
    const kept = (await findTreeCheckpoint(app.ctx.db))?.note ?? '';
    await attack('delete from audit_entries where position > 4', 'truncate audit_checkpoints');
    expect(await problem()).toContain('entry 5 is missing: the tiles have 10 entries');
    await attack('truncate audit_tiles');
    expect(await problem()).toBeNull();
    expect(await problem([kept])).toContain('entry 5 is missing');
    expect(await problem([kept.replace('10', '04')])).toContain('not signed');
  });

  test('publishes its newest checkpoint', async () => {
    const read = () => app.app.inject('/audit/checkpoint');
    expect((await read()).json().code).toBe('not_found');
    await write(3);
    await sealAuditLog(app.ctx, 0);
    const reply = await read();
    expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(openTreeCheckpoint(createCheckpointKeys(app.ctx.sealing), reply.body)?.size).toBe(3n);
  });

  test('verifies after the secret was replaced twice, and trusts no key that was inserted into the database', async () => {
    const [a, b, c, stranger] = [1, 2, 3, 4].map((n) => Buffer.alloc(32, n)) as [
      Buffer,
      Buffer,
      Buffer,
      Buffer,
    ];
    const under = (...secrets: Buffer[]) => ({
      ...app.ctx,
      sealing: createSealing(secrets, app.ctx.random),
    });
    const sealUnder = async (secret: Buffer) => {
      await write(2);
      await sealAuditLog(under(secret), 0);
    };
    await sealUnder(a);
    await keepCheckpointKeys(under(b, a));
    await sealUnder(b);
    await keepCheckpointKeys(under(c, b));
    await sealUnder(c);
    expect(await verifyAuditLog(under(c))).toEqual({ start: 0n, entries: 6n, checkpoints: 3, problem: null });

    await keepCheckpointKeys(under(b, stranger));
    await expect(sealUnder(stranger)).rejects.toThrow('not signed');
    const forged = signCheckpoint(createCheckpointKeys(under(stranger).sealing), {
      ...{ size: 8n, hash: Buffer.alloc(32) },
    });
    await insertTreeCheckpoint(app.ctx.db, { size: 8n, note: forged });
    expect((await verifyAuditLog(under(c))).problem).toContain('not signed');
  });

  test('somebody with the database and a removed secret cannot rewrite the log unnoticed', async () => {
    const [removed, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const under = (...secrets: Buffer[]) => ({
      ...app.ctx,
      sealing: createSealing(secrets, app.ctx.random),
    });
    const seal = async (count: number, ...secrets: Buffer[]) => {
      await write(count);
      await sealAuditLog(under(...secrets), 0);
    };
    const verify = async () => (await verifyAuditLog(under(current))).problem;
    await seal(5, removed);
    await seal(1, removed, current);
    await keepCheckpointKeys(under(current, removed));
    await seal(2, current, removed);
    await seal(2, current);
    expect(await verifyAuditLog(under(current))).toEqual({
      start: 0n,
      entries: 10n,
      checkpoints: 4,
      problem: null,
    });

    // The attacker changes an entry, recomputes the chain, and signs checkpoints of the forged chain with the removed
    // secret.
    await recompute();
    const forged = await listSealedEntries(app.ctx.db, 0n, 100);
    const forge = async (...sizes: number[]) => {
      await attack('truncate audit_checkpoints');
      for (const size of sizes) {
        const hash = forged[size - 1]?.chain_hash ?? Buffer.alloc(32);
        const checkpoint = { size: BigInt(size), hash };
        const note = signCheckpoint(createCheckpointKeys(under(removed).sealing), checkpoint);
        await sql`insert into audit_checkpoints (size, note) values (${size}, ${note})`.execute(app.ctx.db);
      }
    };
    await forge(10);
    expect(await verify()).toContain('the first 6 entries were rewritten');
    await forge(5);
    expect(await verify()).toContain('the first 6 entries were rewritten');
    await attack('delete from audit_entries where position > 5');
    expect(await verify()).toContain('entry 6 is missing');
    await attack('delete from audit_former_keys');
    expect(await verify()).toContain('not signed');
  });

  test('a removed secret signs nothing for entries that were written after it was replaced', async () => {
    const [removed, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const under = (...secrets: Buffer[]) => ({
      ...app.ctx,
      sealing: createSealing(secrets, app.ctx.random),
    });
    await write(3);
    await sealAuditLog(under(removed), 0);
    await keepCheckpointKeys(under(current, removed));
    // `size` is the number of entries up to which the removed key may verify checkpoints. An attacker who raises `size`
    // invalidates the tag, a keyed hash that covers `size`.
    await attack('update audit_former_keys set size = 100');
    expect((await verifyAuditLog(under(current))).problem).toContain('not signed');
    await attack('update audit_former_keys set size = 3');
    expect((await verifyAuditLog(under(current))).problem).toBeNull();
    await write(2);
    await sealAuditLog(under(removed), 0);
    expect((await verifyAuditLog(under(current))).problem).toContain('not signed');
  });

  test('checkpoints of an older secret still verify, those of a stranger do not', () => {
    const keys = (n: number) =>
      createCheckpointKeys({ tags: () => [Buffer.alloc(32, n), Buffer.alloc(32, 1)] });
    const checkpoint = { size: 3n, hash: Buffer.alloc(32, 9) };
    const note = signCheckpoint(createCheckpointKeys({ tags: () => [Buffer.alloc(32, 1)] }), checkpoint);
    expect(openCheckpoint(keys(2), note)).toEqual(checkpoint);
    expect(openCheckpoint(createCheckpointKeys({ tags: () => [Buffer.alloc(32, 3)] }), note)).toBeNull();
    // During a rotation, a verifier that knows only the older key accepts new checkpoints too.
    const older = createCheckpointKeys({ tags: () => [Buffer.alloc(32, 1)] });
    expect(openCheckpoint(older, signCheckpoint(keys(2), checkpoint))).toEqual(checkpoint);
  });
});

/** Changes an entry and recomputes all hashes from this entry on. */
async function recompute(): Promise<void> {
  let chain: Buffer = EMPTY_CHAIN;
  for (const { position, entry } of await listSealedEntries(app.ctx.db, 0n, 100)) {
    const changed = position === 3n ? '{}' : entry;
    const leaf = hashEntry(changed);
    chain = hashChain(chain, leaf);
    await attack(
      `update audit_entries set entry = '${changed.replaceAll("'", "''")}', leaf_hash = '\\x${leaf.toString('hex')}',
        chain_hash = '\\x${chain.toString('hex')}' where position = ${position}`,
    );
  }
}
