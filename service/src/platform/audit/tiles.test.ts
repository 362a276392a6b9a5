import { createHash, createPublicKey, verify as verifySignature } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { createCheckpointKeys, originAt, signCheckpoint, verifierKey } from './checkpoint.ts';
import { auditPlugin } from './plugin.ts';
import { deleteOldAuditEntries } from './retention.ts';
import { sealAuditLog } from './sealer.ts';
import { findBlindingKey, findNewestCheckpoint, insertCheckpoint, listSealedEntries } from './store.ts';
import { parseTilePath } from './tiles.ts';
import { appendLeaf, collectTiles, partialTiles, rootOf, saltOf, type Tree, treeFromTiles } from './tree.ts';
import { verifyAuditLog } from './verify.ts';

const DAY_MS = 86_400_000;
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ plugins: [auditPlugin] });
});
afterAll(() => app.close());

/** Changes the log, as an attacker with the table owner's privileges could. */
const attack = (...statements: string[]) =>
  app.ctx.db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    for (const statement of statements) await sql.raw(statement).execute(tx);
  });
const write = (count: number) =>
  sql`select audit('command.run', audit_object('command', null), audit_object('command', 'test ' || i))
    from generate_series(1, ${count}::int) i`.execute(app.ctx.db);
const publishedKey = () => verifierKey(createCheckpointKeys(app.ctx.sealing), 'causeway.test/audit');
/** Writes entries and seals them. */
const seal = async (count: number) => {
  await write(count);
  await sealAuditLog(app.ctx, 0);
};
/** Returns the service's context at the time at which all entries so far, and no later ones, have expired. */
const afterRetention = async () => {
  await setTimeout(5);
  const now = Date.now() + app.ctx.config.retention.auditDays * DAY_MS;
  await setTimeout(5);
  return { ...app.ctx, clock: { ...app.ctx.clock, now: () => now } };
};
const problem = async (kept: string[] = []) => (await verifyAuditLog(app.ctx, kept)).problem;
const get = (path: string) => app.app.inject(`/audit/${path}`);
const tile = async (path: string) => {
  const reply = await get(`tile/${path}`);
  expect([path, reply.statusCode]).toEqual([path, 200]);
  return hashesIn(reply.rawPayload);
};

beforeEach(async () => {
  await attack('truncate audit_entries restart identity', 'truncate audit_checkpoints');
  await attack('truncate audit_start', 'truncate audit_tiles');
});

// From here to `fetchLeaves`: an independent client of the published log. It uses none of the service's code, only the
// specifications: C2SP tlog-tiles, tlog-checkpoint and signed-note, RFC 6962 and RFC 9162.
const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const node = (left: Buffer, right: Buffer) => sha256(Buffer.from([1]), left, right);
const hashesIn = (bytes: Buffer) =>
  Array.from({ length: bytes.length / 32 }, (_, n) => bytes.subarray(n * 32, n * 32 + 32));
const split = (size: number) => {
  let k = 1;
  while (k * 2 < size) k *= 2;
  return k;
};
function root(leaves: Buffer[]): Buffer {
  const [first, second] = leaves;
  if (first !== undefined && second === undefined) return first;
  const k = split(leaves.length);
  return node(root(leaves.slice(0, k)), root(leaves.slice(k)));
}
function inclusionPath(index: number, leaves: Buffer[]): Buffer[] {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return index < k
    ? [...inclusionPath(index, leaves.slice(0, k)), root(leaves.slice(k))]
    : [...inclusionPath(index - k, leaves.slice(k)), root(leaves.slice(0, k))];
}
function consistencyPath(size: number, leaves: Buffer[], isComplete = true): Buffer[] {
  if (size === leaves.length) return isComplete ? [] : [root(leaves)];
  const k = split(leaves.length);
  return size <= k
    ? [...consistencyPath(size, leaves.slice(0, k), isComplete), root(leaves.slice(k))]
    : [...consistencyPath(size - k, leaves.slice(k), false), root(leaves.slice(0, k))];
}
/** Computes the root from an inclusion proof (RFC 9162, section 2.1.3.2). */
function rootFromInclusion(leaf: Buffer, index: number, size: number, path: Buffer[]): Buffer {
  let [fn, sn, r] = [index, size - 1, leaf];
  for (const p of path) {
    if (fn % 2 === 1 || fn === sn) {
      r = node(p, r);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else r = node(r, p);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return r;
}
/** Computes both roots from a consistency proof (RFC 9162, section 2.1.4.2). */
function rootsFromConsistency(first: { size: number; hash: Buffer }, second: number, path: Buffer[]) {
  const nodes = Number.isInteger(Math.log2(first.size)) ? [first.hash, ...path] : path;
  let [fn, sn] = [first.size - 1, second - 1];
  while (fn % 2 === 1) [fn, sn] = [fn >> 1, sn >> 1];
  let [fr, sr] = [nodes[0] as Buffer, nodes[0] as Buffer];
  for (const c of nodes.slice(1)) {
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [node(c, fr), node(c, sr)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else sr = node(sr, c);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return [fr, sr];
}
/** Fetches the newest checkpoint and verifies its signature with the published key. */
async function fetchCheckpoint(key: string): Promise<{ size: number; hash: Buffer }> {
  const [name = '', hint = '', ...encoded] = key.split('+');
  const raw = Buffer.from(encoded.join('+'), 'base64');
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw.subarray(1)]);
  const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const { body } = await get('checkpoint');
  const [text = '', signatures = ''] = body.split('\n\n');
  const [, signer, signature = ''] = /^— (\S+) (\S+)$/m.exec(signatures) ?? [];
  const bytes = Buffer.from(signature, 'base64');
  expect([signer, bytes.subarray(0, 4).toString('hex')]).toEqual([name, hint]);
  expect(verifySignature(null, Buffer.from(`${text}\n`), publicKey, bytes.subarray(4))).toBe(true);
  const [origin, size = '', hash = '', ...extensions] = text.split('\n');
  expect([origin, extensions]).toEqual([name, []]);
  return { size: Number(size), hash: Buffer.from(hash, 'base64') };
}
/** Fetches all leaves of a tree that has `size` leaves. */
async function fetchLeaves(size: number): Promise<Buffer[]> {
  const leaves: Buffer[] = [];
  for (let n = 0; n * 256 < size; n++) {
    const width = Math.min(256, size - n * 256);
    leaves.push(...(await tile(`0/${String(n).padStart(3, '0')}${width < 256 ? `.p/${width}` : ''}`)));
  }
  return leaves;
}

describe('an independent client', () => {
  test('verifies checkpoint, tiles, the inclusion of an entry, and that the log only grew', async () => {
    const key = publishedKey();
    await seal(300);
    const first = await fetchCheckpoint(key);
    expect(first.size).toBe(300);
    expect(root(await fetchLeaves(300))).toEqual(first.hash);
    await seal(400);
    const second = await fetchCheckpoint(key);
    expect(second.size).toBe(700);
    const leaves = await fetchLeaves(700);
    expect(root(leaves)).toEqual(second.hash);
    expect(await tile('1/000.p/2')).toEqual([root(leaves.slice(0, 256)), root(leaves.slice(256, 512))]);

    // The operator discloses one entry and its salt; `audit export` prints both.
    const [entry] = await listSealedEntries(app.ctx.db, 277, 1);
    const salt = saltOf(await findBlindingKey(app.ctx.db), 278);
    const leaf = sha256(Buffer.from([0]), salt, Buffer.from(entry?.entry ?? ''));
    for (const { size, hash } of [first, second]) {
      const path = inclusionPath(277, leaves.slice(0, size));
      expect(rootFromInclusion(leaf, 277, size, path)).toEqual(hash);
      expect(rootFromInclusion(leaf, 276, size, path)).not.toEqual(hash);
    }
    const path = consistencyPath(first.size, leaves);
    expect(rootsFromConsistency(first, second.size, path)).toEqual([first.hash, second.hash]);
    // The tiles of the first checkpoint are still available.
    expect(await tile('0/001.p/44')).toEqual(leaves.slice(256, 300));
    expect(await problem()).toBeNull();
  });

  test('cannot confirm a guessed entry, because every leaf has a salt', async () => {
    await seal(3);
    const texts = (await listSealedEntries(app.ctx.db, 0, 3)).map(({ entry }) => Buffer.from(entry));
    const leaves = await tile('0/000.p/3');
    for (const hash of texts.flatMap((text) => [sha256(text), sha256(Buffer.from([0]), text)]))
      expect(leaves).not.toContainEqual(hash);
    const tileBytes = (await get('tile/0/000.p/3')).headers;
    expect([tileBytes['cache-control'], tileBytes['content-type']]).toEqual([
      'public, max-age=60',
      'application/octet-stream',
    ]);
  });

  test('gets not_found for malformed paths, entries, and what no checkpoint covers', async () => {
    await seal(260);
    const newest = await findNewestCheckpoint(app.ctx.db);
    await attack('delete from audit_checkpoints');
    const paths = ['0/000', '0/000.p/1', '1/000.p/1'];
    for (const path of paths) expect((await get(`tile/${path}`)).json().code).toBe('not_found');
    await insertCheckpoint(app.ctx.db, newest as NonNullable<typeof newest>);
    for (const path of paths) expect((await get(`tile/${path}`)).statusCode).toBe(200);
    expect((await get('tile/0/000')).headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const wrong = [
      ...['', '0', '0/0', '0/00', '0/0000', '00/000', '64/000', '-1/000', '0/000.p/0', '0/000.p/01'],
      ...[
        '0/000.p/256',
        '0/000.p/999',
        '0/000.p/',
        '0/x000/000',
        '0/x000',
        '0/000/000',
        '0/X001/000',
        'x/000',
      ],
      ...['entries/000', 'entries/000.p/1', '0/001', '0/001.p/5', '0/002', '1/000', '1/000.p/2', '2/000.p/1'],
      ...['7/000.p/1', '0/x999/x999/x999/x999/999', '0/x999/x999/x999/x999/x999/999', '63/000', '0/000%00'],
    ];
    for (const path of wrong) {
      const reply = await get(`tile/${path}`);
      expect([path, reply.statusCode]).toEqual([path, 404]);
      expect(reply.json().code).toBe('not_found');
      expect(reply.headers['cache-control']).not.toContain('immutable');
    }
  });

  test('is rate limited', async () => {
    await seal(1);
    const { limits } = app.ctx.config;
    const before = limits.audit;
    limits.audit = 1;
    try {
      await get('checkpoint');
      for (const path of ['checkpoint', 'tile/0/000.p/1'])
        expect((await get(path)).json().code).toBe('rate_limited');
    } finally {
      limits.audit = before;
    }
  });
});

describe('the tree', () => {
  test('of any size is the one of RFC 6962, and continues from its tiles', () => {
    const tree: Tree = { size: 0, peaks: [] };
    const { onTileHash, take } = collectTiles(0);
    const leaves: Buffer[] = [];
    const sizes = new Set([1, 2, 3, 255, 256, 257, 511, 65_536, 65_800]);
    const stored = new Map<string, Buffer>();
    for (let n = 1; n <= 65_800; n++) {
      leaves.push(Buffer.alloc(32, String(n)));
      appendLeaf(tree, leaves.at(-1) as Buffer, onTileHash);
      if (!sizes.has(n)) continue;
      for (const { level, index, hashes } of take()) {
        const id = `${level}/${index}`;
        stored.set(id, Buffer.concat([stored.get(id) ?? Buffer.alloc(0), hashes]));
      }
      const tiles = partialTiles(n).map((id) => ({
        ...id,
        hashes: stored.get(`${id.level}/${id.index}`) as Buffer,
      }));
      expect(rootOf(treeFromTiles(n, tiles))).toEqual(rootOf(tree));
      if (n !== 65_536) expect(rootOf(tree)).toEqual(root(leaves));
    }
    // 65,800 = 256 × 256 + 256 + 8, so each of the three levels has a partial tile.
    expect(partialTiles(65_800).map(({ width }) => width)).toEqual([1, 1, 8]);
  });

  test('reads the paths of the specification', () => {
    expect(parseTilePath('0/x001/x234/067')).toEqual({ level: 0, index: 1_234_067, width: 256 });
    expect(parseTilePath('3/000.p/17')).toEqual({ level: 3, index: 0, width: 17 });
  });

  test('has the origin of its URL, and its checkpoints verify after the base URL has changed', async () => {
    await seal(3);
    const kept = (await findNewestCheckpoint(app.ctx.db))?.note ?? '';
    await write(2);
    await sealAuditLog({ ...app.ctx, baseUrl: 'https://other.test:8443' }, 0);
    const newest = (await findNewestCheckpoint(app.ctx.db))?.note ?? '';
    expect([kept, newest].map((note) => note.split('\n')[0])).toEqual([
      'causeway.test/audit',
      'other.test:8443/audit',
    ]);
    expect(await verifyAuditLog(app.ctx, [kept, newest])).toMatchObject({ checkpoints: 4, problem: null });
    expect(originAt('https://shared.test/invest/')).toBe('shared.test/invest/audit');
    // A checkpoint of another tree with the same size is proof of a second log.
    const other = { size: 3, hash: Buffer.alloc(32) };
    const note = signCheckpoint(createCheckpointKeys(app.ctx.sealing), 'causeway.test/audit', other);
    expect(await problem([note])).toContain('rewritten');
  });

  test('grows by a limited number of entries per transaction', async () => {
    await write(300);
    const limits = { batchSize: 100, maxBatches: 1 };
    expect(await sealAuditLog(app.ctx, 1e9, limits)).toBe(true);
    expect((await findNewestCheckpoint(app.ctx.db))?.size).toBe(100);
    expect(await problem()).toBeNull();
    expect(await sealAuditLog(app.ctx, 1e9, { ...limits, maxBatches: 9 })).toBe(false);
    expect((await findNewestCheckpoint(app.ctx.db))?.size).toBe(300);
    expect(root(await fetchLeaves(300))).toEqual((await fetchCheckpoint(publishedKey())).hash);
    expect(await verifyAuditLog(app.ctx)).toMatchObject({ checkpoints: 3, problem: null });
    // The newest checkpoint is recent and less than a batch is left, so no checkpoint is due.
    await write(99);
    expect(await sealAuditLog(app.ctx, 1e9, limits)).toBe(false);
    expect((await findNewestCheckpoint(app.ctx.db))?.size).toBe(300);
  });

  test('stays public when entries are deleted', async () => {
    await seal(600);
    const kept = (await findNewestCheckpoint(app.ctx.db))?.note ?? '';
    const later = await afterRetention();
    await seal(10);
    await deleteOldAuditEntries(later);
    expect((await listSealedEntries(app.ctx.db, 0, 1))[0]?.position).toBe(601);
    await seal(10);
    const { size, hash } = await fetchCheckpoint(publishedKey());
    expect([size, root(await fetchLeaves(620))]).toEqual([620, hash]);
    expect(await verifyAuditLog(app.ctx, [kept])).toMatchObject({ start: 600, entries: 20, problem: null });
    // Leaves of deleted entries can no longer be recomputed, but signed roots still cover them.
    await attack(
      'update audit_tiles set hashes = set_byte(hashes, 4, 255 - get_byte(hashes, 4)) where level = 0 and index = 1',
    );
    expect(await problem()).not.toBeNull();
  });

  test.each([
    [
      'a changed leaf',
      'update audit_tiles set hashes = set_byte(hashes, 8, 255 - get_byte(hashes, 8)) where level = 0',
      '0/0',
    ],
    [
      'a changed hash',
      'update audit_tiles set hashes = set_byte(hashes, 8, 255 - get_byte(hashes, 8)) where level = 1',
      '1/0',
    ],
    ['a removed tile', 'delete from audit_tiles where level = 0 and index = 0', '0/0'],
    ['a removed level', 'delete from audit_tiles where level = 1', '1/0'],
    [
      'the newest tile removed',
      'delete from audit_tiles where level = 0 and index = 1',
      'a checkpoint was signed',
    ],
    [
      'a hash too many',
      "update audit_tiles set hashes = hashes || sha256('') where level = 1",
      'level 1 of the tiles has 2 hashes',
    ],
    [
      'another blinding key',
      "update audit_blinding set key = sha256('')",
      'entry 1 differs from its hash in tile 0/0',
    ],
  ])('verification names %s', async (_case, statement, expected) => {
    const key = await findBlindingKey(app.ctx.db);
    await seal(400);
    expect(await problem()).toBeNull();
    await attack(statement);
    expect(await problem()).toContain(expected);
    await attack(`update audit_blinding set key = '\\x${key.toString('hex')}'`);
  });

  test('refuses changes, deletions and truncation', async () => {
    await seal(3);
    for (const statement of [
      'update audit_tiles set hashes = set_byte(hashes, 8, 255 - get_byte(hashes, 8))',
      'update audit_tiles set index = 7',
      'delete from audit_tiles',
      'truncate audit_tiles',
      "update audit_blinding set key = ''",
      'delete from audit_blinding',
    ])
      await expect(sql.raw(statement).execute(app.ctx.db)).rejects.toThrow('cannot be changed');
  });
});

/** Attacks by a role that may only read and write rows. */
describe('the sealer signs nothing, and says why,', () => {
  const run = (statement: string) => sql.raw(statement).execute(app.ctx.db);
  const signedSize = async () => Number((await findNewestCheckpoint(app.ctx.db))?.size ?? 0);
  const sealed = (position: number) =>
    `insert into audit_entries (entry, position) values ('{}', ${position})`;

  test.each([
    ['an entry far above the others', sealed(20), 'entry 4 is missing'],
    [
      'a changed tile',
      'update audit_tiles set hashes = set_byte(hashes, 8, 255 - get_byte(hashes, 8))',
      'the tiles differ from the newest checkpoint',
    ],
    [
      'a leaf without entry',
      "update audit_tiles set hashes = hashes || sha256('')",
      'level 0 of the tiles has 4 hashes',
    ],
    [
      'a tile beyond the others',
      "insert into audit_tiles values (0, 9, sha256(''))",
      'level 0 of the tiles has 2305 hashes',
    ],
    [
      'a tile of another level',
      "insert into audit_tiles values (1, 0, sha256(''))",
      'level 1 of the tiles has 1 hashes',
    ],
    [
      'a checkpoint without signature',
      "insert into audit_checkpoints (size, note) values (900, 'forged')",
      'the checkpoint of 900 entries is not signed',
    ],
    ['no checkpoint', 'delete from audit_checkpoints', 'signed for 0 entries'],
  ])('if there is %s', async (_case, statement, expected) => {
    await seal(3);
    await write(2);
    await attack(statement);
    const before = await signedSize();
    await expect(sealAuditLog(app.ctx, 0)).rejects.toThrow(expected);
    expect(await signedSize()).toBe(before);
    expect(await problem()).not.toBeNull();
  });

  test('and the database refuses entries that the sealer did not place', async () => {
    await seal(3);
    await write(2);
    const place = (position: number | string, where = 'position is null') =>
      `update audit_entries set position = ${position} where ${where}`;
    const one = 'written = (select min(written) from audit_entries where position is null)';
    for (const statement of [
      ...[sealed(4), sealed(4_000_000_000)],
      ...[place(4_000_000_000, one), place(5, one), place(0, one), place(-1, one), place('written * 2')],
    ])
      await expect(run(statement)).rejects.toThrow('cannot be changed');
    // An entry that somebody else has placed where the sealer would have placed it does no harm.
    await run(place(4, one));
    await sealAuditLog(app.ctx, 0);
    expect(await verifyAuditLog(app.ctx)).toMatchObject({ entries: 5, problem: null });
  });

  test('and its functions use no table of the session', async () => {
    const { rows } = await sql<{ name: string }>`select proname as name from pg_proc
      where pronamespace = current_schema()::regnamespace and (proname = 'audit' or proname ~ '^(audit|refuse)_')
        and (prorettype = 'trigger'::regtype or proname = 'audit')
        and not coalesce(array_to_string(proconfig, ' ') like 'search_path=pg_catalog, %, pg_temp', false)`.execute(
      app.ctx.db,
    );
    expect(rows).toEqual([]);
  });
});

test('checkpoints continue if the clock of the database was set back', async () => {
  await seal(1);
  await attack("update audit_checkpoints set at = now() + interval '1 hour'");
  await write(1);
  await sealAuditLog(app.ctx);
  expect((await findNewestCheckpoint(app.ctx.db))?.size).toBe(2);
});
