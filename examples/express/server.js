import { createHandler, createSignIn, toNode, userClient } from '@causeway/sdk/server';
import express from 'express';
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

const app = express();
app.use(toNode(createHandler(signIn, { onError: console.error })));
app.use('/assets', express.static('assets'));

/** Reads the user of the request, or answers with a link to sign-in. */
async function requireUser(request, response, next) {
  const user = await userClient(signIn, request, { baseUrl: CAUSEWAY_URL });
  if (user !== undefined) {
    response.locals.user = user;
    return next();
  }
  const query = new URLSearchParams({ return_to: request.originalUrl });
  response.send(page('Invest with Express', `<a href="/causeway/sign-in?${query}">Sign in</a>`));
}

app.get('/', requireUser, async (_request, response) => {
  const { causeway, session, headers } = response.locals.user;
  const { data } = await causeway.offers.list();
  response.setHeaders(headers); // the session may have been renewed
  response.send(page('Invest with Express', offersList(session.user?.email, data)));
});

app.get('/offers/:slug', requireUser, (request, response) => {
  response.send(page('Invest with Express', checkout(CAUSEWAY_URL, request.params.slug)));
});

app.listen(Number(PORT), () => console.log(`Open ${APP_URL}`));
