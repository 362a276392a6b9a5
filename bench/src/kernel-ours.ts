import { PageQuery } from '@causeway/service/http/paging.ts';
import { partnerRoute } from '@causeway/service/http/route.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { benchContext } from './context.ts';
import { Items, items } from './kernel-list.ts';

const { ctx, token } = await benchContext();
const route = partnerRoute('offers:read', {
  method: 'GET',
  path: '/v1/things',
  operationId: 'listThings',
  summary: 'List',
  query: PageQuery,
  reply: Items,
  cache: 'etag',
  handle: async () => items,
});
const app = await buildServer(ctx, [route]);
process.send?.({
  url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/things`,
  headers: { authorization: `Bearer ${token}` },
});
