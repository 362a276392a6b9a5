import { readFactsRow } from '@causeway/service/requirements/store.ts';
import { fastify } from 'fastify';
import { statusesWorld } from './statuses-world.ts';

/**
 * This process serves a bare route that runs the same query as the route for requirement statuses and returns a
 * constant reply of the same size.
 */
const { ctx, userId, options } = await statusesWorld();
const optionIds = options.map(({ id }) => id);
const statuses = Object.fromEntries(
  options.flatMap(({ requirements }) =>
    requirements.map(({ id, type }) => [id, type === 'document' ? 'not_started' : 'completed']),
  ),
);
const app = fastify();
app.get('/statuses', async () => {
  const row = await readFactsRow(ctx.pool, userId, optionIds);
  return { object: 'requirement_statuses', offer_id: row?.kind, statuses };
});
process.send?.({ url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/statuses` });
