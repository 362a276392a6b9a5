import { eligibilityRoutes } from '@causeway/service/eligibility/routes.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { statusesWorld } from './statuses-world.ts';

const { ctx, token } = await statusesWorld();
const app = await buildServer(ctx, eligibilityRoutes);
process.send?.({
  url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/offers/bench/eligibility`,
  headers: { authorization: `Bearer ${token}` },
});
