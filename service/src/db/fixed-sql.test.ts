import { expect, test } from 'vitest';
import { fixedSql, sqlText } from './fixed-sql.ts';

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
