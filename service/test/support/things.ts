import { sql } from 'kysely';
import Type from 'typebox';
import { ApiError } from '../../src/kernel/errors.ts';
import { newId } from '../../src/kernel/ids.ts';
import { List, PageQuery, readPage } from '../../src/kernel/paging.ts';
import {
  Closed,
  EvmAddress,
  EvmChain,
  Nullable,
  ObjectName,
  Timestamp,
  toTimestamp,
  Uint256,
} from '../../src/kernel/wire.ts';
import type { Context } from '../../src/platform/context/context.ts';
import { readFilters } from '../../src/platform/http/filters.ts';
import type { Query } from '../../src/platform/http/query-string.ts';
import { partnerRoute, publicRoute, userRoute } from '../../src/platform/http/route.ts';

/** The resource of a feature that exists only for tests. The feature uses every part of the kernel. */
const Thing = Closed(
  {
    object: ObjectName('thing'),
    id: Type.String(),
    inserted_at: Timestamp,
    name: Type.String(),
    note: Nullable(Type.String()),
  },
  { title: 'Thing' },
);
const NewThing = Closed({
  name: Type.String({ minLength: 1, maxLength: 40 }),
  amount: Type.Optional(Uint256),
  wallet: Type.Optional(EvmAddress),
  chain: Type.Optional(EvmChain),
  loud: Type.Optional(Type.Boolean()),
});

type Row = { id: string; inserted_at: string; name: string };

export async function createThings(ctx: Context): Promise<void> {
  await sql`create table if not exists things (id uuid primary key, inserted_at timestamptz not null, name text not null)`.execute(
    ctx.db,
  );
}

export async function insertThing(ctx: Context, db: Context['db'], name: string): Promise<Row> {
  const row = { id: newId(ctx.clock, ctx.random), inserted_at: toTimestamp(ctx.clock.micros()), name };
  await sql`insert into things values (${row.id}, ${row.inserted_at}, ${row.name})`.execute(db);
  return row;
}

async function countThings(ctx: Context): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from things`.execute(ctx.db);
  return rows[0]?.n ?? 0;
}

const toThing = (row: Row) => ({ object: 'thing' as const, ...row, note: null, secret: 'undeclared' });

/** Lets a test pause a handler before it has any effect. */
export const gate = { hold: Promise.resolve(), entered: () => {} };

export const thingRoutes = [
  partnerRoute('offers:read', {
    method: 'GET',
    path: '/v1/things',
    operationId: 'listThings',
    summary: 'List',
    query: PageQuery,
    reply: List(Thing, 'Things'),
    cache: 'etag',
    handle: async (ctx, caller, { query, request }) => {
      const filters = readFilters(request.query as Query, ['name', 'id']);
      const list = `things ${caller.clientId} ${JSON.stringify(filters)}`;
      const page = await readPage<Row>(ctx.sealing, list, query, async ({ direction, position, limit }) => {
        const older = direction === 'older';
        const afterCursor =
          position === null
            ? sql`true`
            : sql`(inserted_at, id) ${sql.raw(older ? '<' : '>')} (${position.inserted_at}::timestamptz, ${position.id}::uuid)`;
        const names = filters
          .filter(({ field }) => field === 'name')
          .map(({ op, values }) => sql`name ${sql.raw(op === '!=' ? '<>' : '=')} any(${values})`);
        const where = sql.join([afterCursor, ...names], sql` and `);
        const order = sql.raw(older ? 'desc' : 'asc');
        const { rows } =
          await sql<Row>`select id, inserted_at, name from things where ${where} order by inserted_at ${order}, id ${order} limit ${limit}`.execute(
            ctx.db,
          );
        return rows;
      });
      return { ...page, data: page.data.map(toThing) };
    },
  }),
  userRoute('wallets:write', {
    method: 'POST',
    path: '/v1/things',
    operationId: 'createThing',
    summary: 'Create',
    body: NewThing,
    forms: true,
    limit: 'documents',
    reply: Thing,
    handle: async (ctx, _caller, { body }) => {
      if (body.name === 'refused') throw new ApiError('offer_ended', {}, { message: 'Ended yesterday.' });
      if (body.name === 'outage') throw new ApiError('upstream_unavailable', { upstream: 'venue' });
      gate.entered();
      await gate.hold;
      const reply = await ctx.commitReply(async (tx) => toThing(await insertThing(ctx, tx, body.name)));
      if (body.name === 'crash after the effect') throw new Error('crashed');
      return reply;
    },
  }),
  userRoute('wallets:write', {
    method: 'POST',
    path: '/v1/json-only',
    operationId: 'jsonOnly',
    summary: 'JSON',
    body: NewThing,
    reply: Closed({ object: ObjectName('count'), count: Type.Integer() }),
    handle: async (ctx) => ({ object: 'count' as const, count: await countThings(ctx) }),
  }),
  publicRoute({
    method: 'GET',
    path: '/v1/bug/:id',
    operationId: 'bug',
    summary: 'Fails',
    params: Type.Object({ id: Type.String() }),
    reply: Type.Object({}),
    handle: () => {
      throw new Error('password=hunter2 for alice@example.com');
    },
  }),
];
