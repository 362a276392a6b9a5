import { publicRoute } from '@causeway/service/http/route.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { swapRoutes } from '@causeway/service/swaps/routes.ts';
import Type from 'typebox';
import { benchContext } from './context.ts';
import { readInput } from './reads-targets.ts';

// Access checks, rate limits, logging and metrics are on, as in production.
const { ctx, token } = await benchContext({ rpcUrls: { ethereum_sepolia: [readInput().rpcUrl] } });
const sent = publicRoute({
  method: 'GET',
  path: '/sent',
  operationId: 'countSent',
  summary: 'Count the RPC requests sent',
  reply: Type.Object({ sent: Type.Integer() }),
  handle: () => ({ sent: ctx.chains.evm('ethereum_sepolia').rpc.sent() }),
});
const app = await buildServer(ctx, [...swapRoutes, sent]);
process.send?.({
  url: await app.listen({ host: '127.0.0.1', port: 0 }),
  headers: { authorization: `Bearer ${token}` },
});
