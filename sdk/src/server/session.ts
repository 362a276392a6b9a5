import { cookieName, cookiesOf, type HasHeaders, MAX_COOKIE_BYTES, writeCookie } from './cookies.ts';
import { createSeal } from './seal.ts';
import { SignInError } from './sign-in-error.ts';

/**
 * The session of a signed-in user. It contains tokens, so keep it on the server. `console.log` prints it with the
 * tokens redacted.
 */
export type Session = {
  /** 256 random bits, new for every sign-in. A store may use the id as the browser's session cookie. */
  readonly id: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** When the access token expires, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** When the tokens were issued, in milliseconds since 1970. */
  readonly refreshedAt: number;
  /** The granted scopes, separated by spaces. */
  readonly scope: string;
  /** The user, if the `openid` scope was granted. The email address also requires the `email` scope. */
  readonly user: { readonly id: string; readonly email: string | undefined } | undefined;
};

/**
 * Loads and saves sessions together with their cookies. To change only where sessions are stored, implement
 * `SessionStorage` instead.
 */
export type SessionStore = {
  load(request: HasHeaders): Promise<Session | undefined>;
  /** Saves the session and appends its cookie to the response headers. */
  save(request: HasHeaders, reply: Headers, session: Session): Promise<void>;
  clear(request: HasHeaders, reply: Headers): Promise<void>;
};

export type CookieSessionsOptions = {
  /** At least 32 random characters. To rotate the secret, pass an array with the newest secret first. */
  secret: string | readonly string[];
  /** Set to false only in development, for an app on plain HTTP. */
  secure: boolean;
  name?: string | undefined;
  /**
   * Seconds of inactivity after which the user is signed out. Default: 30 days, the lifetime of the service's
   * refresh tokens.
   */
  maxAge?: number | undefined;
  now?: (() => number) | undefined;
};

export const DEFAULT_MAX_AGE_S = 30 * 24 * 60 * 60;

/**
 * Stores the whole session, including the refresh token, in an encrypted cookie (AES-256-GCM). The server needs no
 * database, but it also has nothing to delete: a stolen cookie works until the service revokes the session's tokens.
 * Anyone who has both the cookie and your secret can read the refresh token and act for the user. Prefer storage on the
 * server where you can.
 *
 * @example
 * ```ts
 * import { cookieSessions } from '@causeway/sdk/server';
 *
 * const store = cookieSessions({ secret: process.env.COOKIE_SECRET ?? 'x'.repeat(32), secure: true });
 * const session = await store.load(new Request('https://app.example/'));
 * console.log(session); // undefined: no user is signed in
 * ```
 */
export function cookieSessions(options: CookieSessionsOptions): SessionStore {
  const { secure, maxAge = DEFAULT_MAX_AGE_S, now = Date.now } = options;
  const name = cookieName(options.name ?? 'causeway_session', secure);
  const { seal, open } = createSeal(options.secret);
  return {
    load: async (request) => {
      const text = cookiesOf(request).get(name);
      const session = text === undefined ? undefined : open(name, text, now());
      return session === undefined ? undefined : hideTokens(session as Session);
    },
    save: async (_request, reply, session) => {
      const cookie = writeCookie(name, seal(name, session, now() + maxAge * 1000), { secure, maxAge });
      // Browsers silently drop larger cookies, so the user would be sent to sign in over and over.
      if (cookie.length > MAX_COOKIE_BYTES) throw new SignInError('session_too_large');
      reply.append('set-cookie', cookie);
    },
    clear: async (_request, reply) => {
      reply.append('set-cookie', writeCookie(name, '', { secure, maxAge: 0 }));
    },
  };
}

/** Returns a copy of the session that hides its tokens when logged. */
export function hideTokens(session: Session): Session {
  return Object.defineProperty({ ...session }, Symbol.for('nodejs.util.inspect.custom'), {
    value: () => ({ ...session, accessToken: '[redacted]', refreshToken: '[redacted]' }),
  });
}
