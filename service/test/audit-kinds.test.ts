import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from './support/app.ts';
import { readSourceTree } from './support/source-tree.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ pages: false });
});
afterAll(() => app.close());

/**
 * Returns the kinds in a text. A kind is an action, or the common prefix of actions that end in a state, such as
 * `participation.`.
 */
const kindsIn = (text: string) =>
  [...text.matchAll(/'([a-z_]+\.[A-Za-z_]*)'/g)].map(([, kind]) => String(kind));

/** Returns the kinds that the database triggers can write: their first argument, up to the name of a column. */
async function readTriggerKinds(): Promise<string[]> {
  const { rows } = await sql<{ action: string }>`
    select distinct split_part(split_part(encode(tgargs, 'escape'), '\\000', 1), '{', 1) as action
    from pg_trigger where tgfoid = 'audit_row'::regproc`.execute(app.ctx.db);
  return rows.map(({ action }) => action);
}

/** Returns the kinds that the service writes itself. */
function readServiceKinds(texts: readonly string[]): string[] {
  return texts.flatMap((text) =>
    [...text.matchAll(/action: [^,(]*|select audit\('[^']*'/g)].flatMap(([found]) => kindsIn(found)),
  );
}

test('every kind of audit entry is written by a real action of some test', async () => {
  const files = readSourceTree().filter(({ path }) => path.startsWith('service/'));
  const isTest = (path: string) => path.endsWith('.test.ts');
  const texts = files
    .filter(({ path }) => path.startsWith('service/src/') && !isTest(path))
    .map(({ text }) => text);
  const declared = new Set([...(await readTriggerKinds()), ...readServiceKinds(texts)]);
  const expected = files
    .filter(({ path }) => isTest(path))
    .flatMap(({ text }) => [...text.matchAll(/expectAudited\([^;]*\);/g)].flatMap(([call]) => kindsIn(call)));
  // Makes sure that the search found kinds in triggers and in source files.
  expect([...declared]).toEqual(
    expect.arrayContaining(['user.held', 'participation.', 'eligibility.refused', 'command.run']),
  );
  const isExpected = (kind: string) =>
    expected.some((action) => (kind.endsWith('.') ? action.startsWith(kind) : action === kind));
  expect([...declared].filter((kind) => !isExpected(kind))).toEqual([]);
});
