import { join } from 'node:path';
import { createHandler, createSignIn, toFastify, userClient } from '@causeway/sdk/server';
import staticFiles from '@fastify/static';
import Fastify from 'fastify';
import { checkout, offersList, page } from './html.js';

const { CAUSEWAY_URL = 'http://127.0.0.1:8080', PORT = '4000' } = process.env;
const { APP_URL = `http://localhost:${PORT}` } = process.env;
const signIn = createSignIn({
  baseUrl: CAUSEWAY_URL,
  clientId: process.env.CAUSEWAY_CLIENT_ID ?? 'sandbox-partner',
  clientSecret: process.env.CAUSEWAY_CLIENT_SECRET ?? '',
  redirectUri: `${APP_URL}/callback`,
  cookieSecret: process.env.COOKIE_SECRET ?? '',
});

const app = Fastify();
app.register(toFastify(createHandler(signIn, { onError: console.error })));
app.register(staticFiles, { root: join(import.meta.dirname, 'assets'), prefix: '/assets/' });

const send = (reply, content) => reply.type('text/html').send(page('Invest with Fastify', content));

/** Reads the user of the request, or answers with a link to sign-in. */
async function requireUser(request, reply) {
  request.user = await userClient(signIn, request, { baseUrl: CAUSEWAY_URL });
  if (request.user !== undefined) return;
  const query = new URLSearchParams({ return_to: request.url });
  return send(reply, `<a href="/causeway/sign-in?${query}">Sign in</a>`);
}

app.get('/', { preHandler: requireUser }, async (request, reply) => {
  const { causeway, session, headers } = request.user;
  const { data } = await causeway.offers.list();
  reply.raw.setHeaders(headers); // the session may have been renewed
  return send(reply, offersList(session.user?.email, data));
});

app.get('/offers/:slug', { preHandler: requireUser }, async (request, reply) =>
  send(reply, checkout(CAUSEWAY_URL, request.params.slug)),
);

await app.listen({ port: Number(PORT), host: 'localhost' });
console.log(`Open ${APP_URL}`);
