import { createCausewayNext } from '@causeway/sdk/next';

const { APP_URL = 'http://localhost:4000' } = process.env;

/** Sessions are kept in memory here. In production, pass `store: postgresSessions(pool)`. */
export const { handlers, getUser, requireUser, proxy } = createCausewayNext(() => ({
  baseUrl: process.env.CAUSEWAY_URL ?? 'http://127.0.0.1:8080',
  clientId: process.env.CAUSEWAY_CLIENT_ID ?? 'sandbox-partner',
  clientSecret: process.env.CAUSEWAY_CLIENT_SECRET ?? '',
  redirectUri: `${APP_URL}/callback`,
  cookieSecret: process.env.COOKIE_SECRET ?? '',
  onError: console.error,
}));
