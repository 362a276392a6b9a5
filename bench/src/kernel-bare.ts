import { fastify } from 'fastify';
import { Items, items } from './kernel-list.ts';

const app = fastify();
app.get('/v1/things', { schema: { response: { 200: Items } } }, async () => items);
process.send?.({ url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/things` });
