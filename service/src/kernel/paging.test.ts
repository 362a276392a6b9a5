import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../test/support/app.ts';
import { createThings, insertThing, thingRoutes } from '../../test/support/things.ts';

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await testApp({ routes: thingRoutes });
  await createThings(app.ctx);
  token = await app.tokenFor({});
});
afterAll(() => app.close());

type Page = { data: { id: string; name: string }[]; starting_after?: string; starting_before?: string };

async function list(query: Record<string, string | number>, as = token) {
  const text = new URLSearchParams(query as Record<string, string>);
  return app.app.inject({ url: `/v1/things?${text}`, headers: { authorization: `Bearer ${as}` } });
}
const page = async (query: Record<string, string | number>): Promise<Page> => (await list(query)).json();

async function refill(count: number): Promise<string[]> {
  await sql`truncate things`.execute(app.ctx.db);
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.unshift((await insertThing(app.ctx, app.ctx.db, `n${i % 3}`)).id);
  return ids;
}

test('paging forward and back visits every row once in order, despite concurrent inserts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 25 }),
      fc.integer({ min: 1, max: 9 }),
      async (count, limit) => {
        const ids = await refill(count);
        const seen: string[] = [];
        let current = await page({ limit });
        expect(current).not.toHaveProperty('starting_before');
        for (;;) {
          seen.push(...current.data.map(({ id }) => id));
          if (current.starting_after === undefined) break;
          await insertThing(app.ctx, app.ctx.db, 'late');
          current = await page({ limit, starting_after: current.starting_after });
        }
        expect(seen).toEqual(ids);
        const back: string[] = current.data.map(({ id }) => id);
        while (current.starting_before !== undefined) {
          current = await page({ limit, starting_before: current.starting_before });
          back.unshift(...current.data.map(({ id }) => id));
        }
        // Paging back continues to the newest row, so rows inserted in the meantime appear too. They are ignored here.
        expect(back.slice(-count || back.length)).toEqual(count === 0 ? back : ids);
      },
    ),
    { numRuns: 25 },
  );
});

test.each([0, 101, -1, 1.5, 'x', ''])('rejects limit %j', async (limit) => {
  const reply = await list({ limit });
  expect([reply.statusCode, Object.keys(reply.json().errors)]).toEqual([422, ['limit']]);
});

test('rejects both cursors at once', async () => {
  await refill(5);
  const { starting_after = '' } = await page({ limit: 2 });
  expect((await list({ starting_after, starting_before: starting_after })).statusCode).toBe(422);
});

test('rejects a cursor with any character changed, removed or added', async () => {
  await refill(5);
  const { starting_after: cursor = '' } = await page({ limit: 2 });
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: cursor.length - 1 }), fc.constantFrom(...'Aa0_-9'), async (at, char) => {
      fc.pre(cursor[at] !== char);
      const forged = cursor.slice(0, at) + char + cursor.slice(at + 1);
      expect((await list({ starting_after: forged })).json().code).toBe('validation_failed');
    }),
    { numRuns: 60 },
  );
  for (const forged of [cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, 'null', ' ']) {
    expect((await list({ starting_after: forged })).json().code).toBe('validation_failed');
  }
});

test('rejects a cursor of other filters or of another partner', async () => {
  await refill(5);
  const { starting_after = '' } = await page({ limit: 2 });
  expect((await list({ starting_after })).statusCode).toBe(200);
  expect((await list({ starting_after }, await app.tokenFor({ clientId: 'partner-two' }))).statusCode).toBe(
    422,
  );
  expect(
    (
      await list({
        starting_after,
        'filters[0][field]': 'name',
        'filters[0][op]': '==',
        'filters[0][value]': 'n0',
      })
    ).statusCode,
  ).toBe(422);
});

const filter = (i: number, field: string, op: string, value: string) => ({
  [`filters[${i}][field]`]: field,
  [`filters[${i}][op]`]: op,
  [`filters[${i}][value]`]: value,
});

test('combines all filters', async () => {
  await refill(9);
  const names = async (query: Record<string, string>) =>
    [...new Set((await page(query)).data.map(({ name }) => name))].sort();
  expect(await names(filter(0, 'name', '==', 'n1'))).toEqual(['n1']);
  expect(await names(filter(0, 'name', '!=', 'n1'))).toEqual(['n0', 'n2']);
  expect(await names(filter(3, 'name', 'in', 'n0,n2'))).toEqual(['n0', 'n2']);
  expect(await names({ ...filter(0, 'name', 'in', 'n0,n2'), ...filter(1, 'name', '!=', 'n0') })).toEqual([
    'n2',
  ]);
});

test.each<[string, Record<string, string>]>([
  ['an unknown field', filter(0, 'password', '==', 'x')],
  ['an unknown operator', filter(0, 'name', '~', 'x')],
  ['no value', { 'filters[0][field]': 'name', 'filters[0][op]': '==' }],
  ['a name that is not a filter', { 'filters[0][x]': '1' }],
  ['no index', { filters: 'x' }],
  ['a prototype name', { 'filters[__proto__][field]': 'name' }],
  [
    'eleven entries',
    Object.assign({}, ...Array.from({ length: 11 }, (_, i) => filter(i, 'name', '==', 'x'))),
  ],
])('rejects filters with %s', async (_name, query) => {
  expect((await list(query)).json()).toMatchObject({ code: 'validation_failed' });
});
