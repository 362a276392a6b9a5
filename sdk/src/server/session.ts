import { COOKIE_ROOM, cookieName, cookiesOf, type HasHeaders, writeCookie } from './cookies.ts';
import { createSeal } from './seal.ts';
import { SignInError } from './sign-in-error.ts';

/** A signed-in user. It holds tokens: keep it on the server; `console.log` shows it without them. */
export type Session = {
  /** 256 random bits, new with every sign-in; a store may hand it to the browser as the key of what it keeps. */
  readonly id: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Milliseconds since 1970, as are all times here. */
  readonly expiresAt: number;
  readonly refreshedAt: number;
  /** What the user allowed, separated by spaces. */
  readonly scope: string;
  /** Known with the scope `openid`; the address with `email`. */
  readonly user: { readonly id: string; readonly email: string | undefined } | undefined;
};

/** Where sessions are kept. Implement it to keep them in a database; the reply then carries only a cookie with an id. */
export type SessionStore = {
  load(request: HasHeaders): Promise<Session | undefined>;
  /** Adds to the headers of the reply what makes the browser remember. */
  save(request: HasHeaders, reply: Headers, session: Session): Promise<void>;
  clear(request: HasHeaders, reply: Headers): Promise<void>;
};

export type CookieSessionsOptions = {
  /** 32 or more random characters; several to rotate, newest first. */
  secret: string | readonly string[];
  /** False for an app on plain http, which only fits development. */
  secure: boolean;
  name?: string | undefined;
  /** Seconds without a visit after which the user is signed out; 30 days unless told, as the service's own. */
  maxAge?: number | undefined;
  now?: (() => number) | undefined;
};

const MONTH = 30 * 24 * 60 * 60;

/**
 * Keeps the whole session in an encrypted cookie (AES-256-GCM), so that there is nothing to store on the server.
 *
 * @example
 * ```ts
 * import { cookieSessions } from '@causeway/sdk/server';
 *
 * const store = cookieSessions({ secret: process.env.COOKIE_SECRET ?? 'x'.repeat(32), secure: true });
 * const session = await store.load(new Request('https://app.example/'));
 * console.log(session); // undefined: nobody is signed in
 * ```
 */
export function cookieSessions(options: CookieSessionsOptions): SessionStore {
  const { secure, maxAge = MONTH, now = Date.now } = options;
  const name = cookieName(options.name ?? 'causeway_session', secure);
  const { seal, open } = createSeal(options.secret);
  return {
    load: async (request) => {
      const text = cookiesOf(request).get(name);
      const session = text === undefined ? undefined : open(name, text, now());
      return session === undefined ? undefined : quiet(session as Session);
    },
    save: async (_request, reply, session) => {
      const cookie = writeCookie(name, seal(name, session, now() + maxAge * 1000), { secure, maxAge });
      // A browser drops a larger one without a word, and the user would be sent to sign in for ever.
      if (cookie.length > COOKIE_ROOM) throw new SignInError('session_too_large');
      reply.append('set-cookie', cookie);
    },
    clear: async (_request, reply) => {
      reply.append('set-cookie', writeCookie(name, '', { secure, maxAge: 0 }));
    },
  };
}

/** The same session, which shows no token when it is logged. */
export function quiet(session: Session): Session {
  return Object.defineProperty({ ...session }, Symbol.for('nodejs.util.inspect.custom'), {
    value: () => ({ ...session, accessToken: '[redacted]', refreshToken: '[redacted]' }),
  });
}
