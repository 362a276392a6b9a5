import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHandler, createSignIn, type Handler, type SignIn, toNode } from '../src/server/index.ts';
import type { Person } from './person.ts';
import { type Sandbox, startSandbox, type User } from './sandbox.ts';

export const COOKIE_SECRET = 'a-secret-of-the-cookies-of-this-test';
const REDIRECT = 'http://localhost:3000/callback';
export const FROM_PAGE = { 'sec-fetch-site': 'same-origin', accept: 'application/json' };

type Walk = { decision?: 'allow' | 'deny'; returnTo?: string; base?: string };
type Answer = { status: number; headers: Headers; body: Record<string, unknown> };

/** A partner's server on the SDK, in front of the whole service. */
export type PartnerApp = {
  sandbox: Sandbox;
  user: User;
  url: string;
  signIn: SignIn;
  handler: Handler;
  /** Milliseconds that the server's clock is ahead. */
  clock: { skew: number };
  /** What went to the token endpoint. */
  grants: string[];
  errors: unknown[];
  reset(): void;
  /** Another process of the same server. */
  newSignIn(more?: Partial<Parameters<typeof createSignIn>[0]>): SignIn;
  listen(server: Server): Promise<string>;
  /** Through the app, the service's pages, and back: gives the app's reply to the callback. */
  walk(person: Person, options?: Walk): Promise<Response>;
  /** As a page of the app does. */
  ask(person: Person, path: string, init?: RequestInit, base?: string): Promise<Answer>;
  close(): Promise<void>;
};

export async function startPartnerApp(): Promise<PartnerApp> {
  const sandbox = await startSandbox();
  const user = await sandbox.newUser();
  const clock = { skew: 0 };
  const grants: string[] = [];
  const errors: unknown[] = [];
  const servers: Server[] = [];
  const listen = async (server: Server) => {
    servers.push(server);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const { client_id, client_secret } = sandbox.overview.partner;
  const newSignIn: PartnerApp['newSignIn'] = (more = {}) =>
    createSignIn({
      ...{ baseUrl: sandbox.url, clientId: client_id, clientSecret: client_secret },
      ...{ redirectUri: REDIRECT, cookieSecret: COOKIE_SECRET, now: () => Date.now() + clock.skew },
      fetch: async (input, init) => {
        grants.push(new URLSearchParams(String(init?.body)).get('grant_type') ?? String(input));
        return fetch(input, init);
      },
      ...more,
    });
  const signIn = newSignIn();
  const handler = createHandler(signIn, { onError: (error) => void errors.push(error) });
  const url = await listen(
    createServer((request, response) => toNode(handler)(request, response, () => response.end('the app'))),
  );
  return {
    ...{ sandbox, user, url, signIn, handler, clock, grants, errors, newSignIn, listen },
    reset: () => {
      clock.skew = 0;
      grants.length = 0;
      errors.length = 0;
    },
    walk: async (person, { decision = 'allow', returnTo = '/offers?x=1', base = url } = {}) => {
      const begun = await person.ask(`${base}/causeway/sign-in?return_to=${encodeURIComponent(returnTo)}`);
      const back = await person.decide(begun.headers.get('location') ?? '', user, decision);
      if (!back.href.startsWith(`${REDIRECT}?`)) throw new Error(`the sign-in went to ${back.href}`);
      return person.ask(`${base}/callback${back.search}`);
    },
    ask: async (person, path, init = {}, base = url) => {
      const reply = await person.ask(base + path, { headers: FROM_PAGE, ...init });
      return { status: reply.status, headers: reply.headers, body: await reply.json() };
    },
    close: async () => {
      for (const server of servers) server.closeAllConnections();
      await sandbox.stop();
    },
  };
}
