import { buildServer } from '@causeway/service/http/server.ts';
import { requirementRoutes } from '@causeway/service/requirements/routes.ts';
import { statusesWorld } from './statuses-world.ts';

const { ctx, token } = await statusesWorld();
const app = await buildServer(ctx, requirementRoutes);
process.send?.({
  url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/offers/bench/requirements/statuses`,
  headers: { authorization: `Bearer ${token}` },
});
