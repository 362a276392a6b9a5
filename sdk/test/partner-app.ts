import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createHandler,
  createSignIn,
  type Handler,
  memorySessions,
  type SignIn,
  toNode,
} from '../src/server/index.ts';
import type { Browser } from './browser.ts';
import { type Sandbox, type User, useSandbox } from './sandbox.ts';

export const COOKIE_SECRET = 'cookie-secret-for-the-partner-app-tests';
const REDIRECT = 'http://localhost:3000/callback';
export const FROM_PAGE = { 'sec-fetch-site': 'same-origin', accept: 'application/json' };

type SignInStep = { decision?: 'allow' | 'deny'; returnTo?: string; base?: string; user?: User };
type Reply = { status: number; headers: Headers; body: Record<string, unknown> };

/** A partner's server built on the SDK, with a complete sandbox behind it. */
export type PartnerApp = {
  sandbox: Sandbox;
  user: User;
  url: string;
  signIn: SignIn;
  handler: Handler;
  /** How far the server's clock is ahead of real time. */
  clock: { skewMs: number };
  /** The grant types sent to the token endpoint. */
  grants: string[];
  errors: unknown[];
  reset(): void;
  /** Creates a second sign-in object with the same configuration, as another process of the app's server would have. */
  newSignIn(overrides?: Partial<Parameters<typeof createSignIn>[0]>): SignIn;
  listen(server: Server): Promise<string>;
  /** Goes through the whole sign-in and returns the app's response to the callback. */
  completeSignIn(browser: Browser, options?: SignInStep): Promise<Response>;
  /** Sends a request as a page of the app would. */
  fetchAsPage(browser: Browser, path: string, init?: RequestInit, base?: string): Promise<Reply>;
  close(): Promise<void>;
};

export async function startPartnerApp(): Promise<PartnerApp> {
  const sandbox = await useSandbox();
  const user = await sandbox.newUser();
  const clock = { skewMs: 0 };
  const grants: string[] = [];
  const errors: unknown[] = [];
  const servers: Server[] = [];
  const listen = async (server: Server) => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const { client_id, client_secret } = sandbox.overview.partner;
  const now = () => Date.now() + clock.skewMs;
  const store = memorySessions({ now });
  const newSignIn: PartnerApp['newSignIn'] = (overrides = {}) =>
    createSignIn({
      store,
      ...{ baseUrl: sandbox.url, clientId: client_id, clientSecret: client_secret },
      ...{ redirectUri: REDIRECT, cookieSecret: COOKIE_SECRET, now },
      fetch: async (input, init) => {
        grants.push(new URLSearchParams(String(init?.body)).get('grant_type') ?? String(input));
        return fetch(input, init);
      },
      ...overrides,
    });
  const signIn = newSignIn();
  const handler = createHandler(signIn, { onError: (error) => void errors.push(error) });
  const url = await listen(
    createServer((request, response) => toNode(handler)(request, response, () => response.end('the app'))),
  );
  return {
    ...{ sandbox, user, url, signIn, handler, clock, grants, errors, newSignIn, listen },
    reset: () => {
      clock.skewMs = 0;
      grants.length = 0;
      errors.length = 0;
    },
    completeSignIn: async (browser, options = {}) => {
      const { decision = 'allow', returnTo = '/offers?x=1', base = url } = options;
      const start = await browser.fetch(`${base}/causeway/sign-in?return_to=${encodeURIComponent(returnTo)}`);
      const callback = await browser.authorize(
        start.headers.get('location') ?? '',
        options.user ?? user,
        decision,
      );
      if (!callback.href.startsWith(`${REDIRECT}?`))
        throw new Error(`the sign-in redirected to ${callback.href}`);
      return browser.fetch(`${base}/callback${callback.search}`);
    },
    fetchAsPage: async (browser, path, init = {}, base = url) => {
      const reply = await browser.fetch(base + path, { headers: FROM_PAGE, ...init });
      return { status: reply.status, headers: reply.headers, body: await reply.json() };
    },
    close: async () => {
      for (const server of servers) server.closeAllConnections();
    },
  };
}
