import { fastify } from 'fastify';
import pg from 'pg';
import { readInput } from './input.ts';

/** What a bare Fastify route does: runs the statements on a plain `pg` pool, if any, and returns the reply. */
export type BareRoute = {
  reply: unknown;
  databaseUrl?: string;
  statements?: { text: string; values: unknown[] }[];
};

const { reply, databaseUrl, statements = [] } = await readInput<BareRoute>();
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
const prepared = statements.map((statement, at) => ({ name: `statement ${at}`, ...statement }));
const app = fastify();
app.get('/', async () => {
  for (const statement of prepared) await pool.query(statement);
  return reply;
});
process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
