import { publicRoute } from '@causeway/service/http/route.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { swapRoutes } from '@causeway/service/swaps/routes.ts';
import Type from 'typebox';
import { benchContext } from './context.ts';
import { readSetting } from './reads-targets.ts';

// As it runs: access, limits, log and metrics are on.
const { ctx, token } = await benchContext({ rpcUrls: { ethereum_sepolia: [readSetting().rpcUrl] } });
const sent = publicRoute({
  method: 'GET',
  path: '/sent',
  operationId: 'countSent',
  summary: 'RPC requests so far',
  reply: Type.Object({ sent: Type.Integer() }),
  handle: () => ({ sent: ctx.chains.evm('ethereum_sepolia').rpc.sent() }),
});
const app = await buildServer(ctx, [...swapRoutes, sent]);
process.send?.({
  url: await app.listen({ host: '127.0.0.1', port: 0 }),
  headers: { authorization: `Bearer ${token}` },
});
