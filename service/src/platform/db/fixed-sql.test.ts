import { expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/setup/database.ts';
import { fixedSql, queryRows, sqlText } from './fixed-sql.ts';
import { openPool } from './pool.ts';

const COLUMNS = sqlText('id, name');

test('values become parameters, and texts become part of the statement', () => {
  const find = (id: string, names: string[]) =>
    fixedSql`select ${COLUMNS} from things where id = ${id} and name = any(${names})`;
  const text = 'select id, name from things where id = $1 and name = any($2)';
  expect(find('1', ['a'])).toMatchObject({ sql: text, parameters: ['1', ['a']] });
  expect(find("2' or true", [])).toMatchObject({ sql: text, parameters: ["2' or true", []] });
});

test('an object from a request cannot pass for a text', () => {
  const input: unknown = JSON.parse('{"text": "1; drop table things", "Symbol(text)": true}');
  expect(fixedSql`select ${input}`).toMatchObject({ sql: 'select $1', parameters: [input] });
});

test('each statement keeps its own text', () => {
  const texts = [fixedSql`select ${1}`, fixedSql`select ${1}, ${2}`].map(({ sql }) => sql);
  expect(texts).toEqual(['select $1', 'select $1, $2']);
});

test('a statement runs without Kysely, as the same prepared statement, and an error keeps the connection', async () => {
  const database = await createTestDatabase();
  const one = openPool(database.url, { max: 1 });
  try {
    const divide = (n: number) => fixedSql<{ n: number }>`select 6 / ${n}::int as n, pg_backend_pid() as pid`;
    const [first] = await queryRows(one.statements, divide(2));
    expect(first).toMatchObject({ n: 3 });
    await expect(queryRows(one.statements, divide(0))).rejects.toThrow('division by zero');
    expect(await queryRows(one.statements, divide(2))).toEqual([first]);
    expect((await one.db.executeQuery(divide(2))).rows).toEqual([first]);
    const prepared = fixedSql`select from pg_prepared_statements where statement like 'select 6 / %'`;
    expect(await queryRows(one.statements, prepared)).toHaveLength(1);
  } finally {
    await one.close();
    await database.drop();
  }
});
