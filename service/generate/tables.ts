import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '@causeway/sandbox/postgres/server.ts';
import type pg from 'pg';
import { migrate } from '../src/platform/db/migrate.ts';
import { openPool } from '../src/platform/db/pool.ts';

// Migrates an empty database and writes the types of its tables for Kysely.
const FILE = fileURLToPath(new URL('../src/platform/db/tables.ts', import.meta.url));

/** The types of values as `platform/db/column-types.ts` reads them. */
const TYPES: Readonly<Record<string, string>> = {
  bool: 'boolean',
  bytea: 'Buffer',
  int2: 'number',
  int4: 'number',
  int8: 'bigint',
  numeric: 'string',
  text: 'string',
  timestamptz: 'string',
  uuid: 'string',
};

/** The jsonb columns that do not hold an object of unknown members. */
const JSON_TYPES: Readonly<Record<string, string>> = {
  'events.related': 'Json<{ object: string; id: string; path: string }>',
  'offers.faqs': 'Json<unknown[]>',
  'offers.links': 'Json<unknown[]>',
  'offers.milestones': 'Json<unknown[]>',
  'offers.terms': 'Json<unknown[]>',
};

const HEADER = `// Generated from the migrations by \`npm run generate\`; do not edit.
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

/** Read as a value, written as JSON text. */
type Json<T> = ColumnType<T, string, string>;

`;

type Column = {
  table: string;
  name: string;
  type: string;
  is_nullable: boolean;
  has_default: boolean;
  /** Whether only the database can write the column. */
  is_computed: boolean;
  /** The check that allows only certain texts, if there is one. */
  literals: string | null;
};

async function readColumns(pool: pg.Pool): Promise<Column[]> {
  const { rows } = await pool.query<Column>(`
    select c.relname as "table", a.attname as name, t.typname as type, not a.attnotnull as is_nullable,
      a.atthasdef or a.attidentity <> '' as has_default, a.attgenerated <> '' or a.attidentity = 'a' as is_computed,
      (select pg_get_constraintdef(k.oid) from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
          and pg_get_constraintdef(k.oid) like '% = ANY (ARRAY[%') as literals
    from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped
    order by c.relname collate "C", a.attnum`);
  return rows;
}

function typeOf({ table, name, type, is_nullable, has_default, is_computed, literals }: Column): string {
  if (type === 'jsonb')
    return `${JSON_TYPES[`${table}.${name}`] ?? 'Json<Record<string, unknown>>'}${is_nullable ? ' | null' : ''}`;
  const base = TYPES[type.replace(/^_/, '')];
  if (base === undefined) throw new Error(`${table}.${name}: no TypeScript type for ${type}`);
  const allowed = [...(literals ?? '').matchAll(/'([^']*)'::text/g)].map(([, text]) => `'${text}'`);
  const value = `${allowed.join(' | ') || base}${type.startsWith('_') ? '[]' : ''}${is_nullable ? ' | null' : ''}`;
  if (is_computed) return `GeneratedAlways<${value}>`;
  return has_default ? `Generated<${value}>` : value;
}

function renderTables(columns: readonly Column[]): string {
  const lines = columns.flatMap((column, index) => [
    ...(columns[index - 1]?.table === column.table ? [] : [`  ${column.table}: {`]),
    `    ${column.name}: ${typeOf(column)};`,
    ...(columns[index + 1]?.table === column.table ? [] : ['  };']),
  ]);
  return `${HEADER}export interface Database {\n${lines.join('\n')}\n}\n`;
}

const dataDir = await mkdtemp(join(tmpdir(), 'causeway-tables-'));
const server = await startPostgres({ dataDir, log: () => undefined, settings: { fsync: 'off' } });
try {
  const { pool, close } = openPool(server.url);
  await migrate(pool);
  await writeFile(FILE, renderTables(await readColumns(pool)));
  await close();
} finally {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
