import { createHash, randomBytes } from 'node:crypto';
import { checkAnswer, type Pending } from './pending.ts';
import { createRenewal } from './renewal.ts';
import { createSeal, type Seal } from './seal.ts';
import { cookieSessions, quiet, type Session, type SessionStore } from './session.ts';
import { SignInError } from './sign-in-error.ts';
import {
  baseOf,
  type ClientCredentials,
  requestTokens,
  revokeToken,
  type TokenReply,
} from './token-endpoint.ts';
import { userOf } from './user.ts';

export type SignInOptions = ClientCredentials & {
  /** One that is registered for the client. Its origin is the app's: it decides on cookies and on who may ask for tokens. */
  redirectUri: string;
  /** 32 or more random characters that seal the cookies; several to rotate, newest first. */
  cookieSecret: string | readonly string[];
  /** All that the client is registered for unless told. */
  scope?: string | readonly string[] | undefined;
  /** Where sessions are kept; in an encrypted cookie unless told. */
  store?: SessionStore | undefined;
  /** Who signs the answers, where it is not `baseUrl`. */
  issuer?: string | undefined;
  now?: (() => number) | undefined;
};

export type AuthorizeOptions = {
  /** A path of this app to come back to. */
  returnTo?: string | undefined;
  prompt?: 'none' | 'login' | 'consent' | undefined;
  loginHint?: string | undefined;
};

/** The sign-in of a partner's app: what its server does, with the client secret, that no browser may do. */
export type SignIn = {
  readonly redirectUri: string;
  readonly store: SessionStore;
  /** For the handlers of this package. */
  readonly internals: Seal & { now(): number };
  /** Where to send the browser, and what must be kept for its return. */
  authorizeUrl(options?: AuthorizeOptions): { url: string; pending: Pending };
  /** The address that the browser came back to, for a session. A code is exchanged once, however often it is delivered. */
  exchange(callback: string | URL | URLSearchParams, pending: Pending | undefined): Promise<Session>;
  /** A session whose token will last a moment: save it when it is not the one given. */
  fresh(session: Session): Promise<Session>;
  /** Renewed whatever its age, because the service has refused the token. */
  refresh(session: Session): Promise<Session>;
  /** A token for the user of a session, renewed when it is due. */
  accessToken(session: Session): Promise<string>;
  /** Ends the session's tokens at the service. */
  signOut(session: Session): Promise<void>;
};

const PENDING_FOR = 10 * 60_000;
const SAME_EXCHANGE_FOR = 60_000;
const MAX_RECENT = 1_000;

/**
 * Sign-in with PKCE and state, sessions, and their renewal.
 *
 * @example
 * ```ts
 * import { createSignIn } from '@causeway/sdk/server';
 *
 * const signIn = createSignIn({
 *   baseUrl: 'http://127.0.0.1:8080',
 *   clientId: 'sandbox-partner',
 *   clientSecret: process.env.CAUSEWAY_CLIENT_SECRET ?? '',
 *   redirectUri: 'http://localhost:3000/callback',
 *   cookieSecret: process.env.COOKIE_SECRET ?? 'x'.repeat(32),
 * });
 * const { url, pending } = signIn.authorizeUrl({ returnTo: '/offers' });
 * console.log(url, pending.returnTo);
 * ```
 */
export function createSignIn(options: SignInOptions): SignIn {
  const { redirectUri, cookieSecret, now = Date.now } = options;
  const issuer = (options.issuer ?? baseOf(options)).replace(/\/+$/, '');
  const secure = new URL(redirectUri).protocol === 'https:';
  const store = options.store ?? cookieSessions({ secret: cookieSecret, secure, now });
  const sessionOf = (id: string, reply: TokenReply, before?: Session): Session => {
    const refreshToken = reply.refresh_token ?? before?.refreshToken;
    if (refreshToken === undefined) throw new SignInError('refused');
    return quiet({
      ...{ id, refreshToken, accessToken: reply.access_token, refreshedAt: now() },
      expiresAt: now() + reply.expires_in * 1000,
      scope: reply.scope ?? before?.scope ?? '',
      user: before?.user ?? userOf(reply.id_token, { issuer, clientId: options.clientId, now: now() }),
    });
  };

  const renewal = createRenewal(now, async (session) => {
    const fields = { grant_type: 'refresh_token', refresh_token: session.refreshToken };
    return sessionOf(session.id, await requestTokens(options, fields), session);
  });
  const exchangeOnce = onceEach(now, async (_state, code: string, verifier: string) => {
    const grant = { grant_type: 'authorization_code', redirect_uri: redirectUri };
    const reply = await requestTokens(options, { ...grant, code, code_verifier: verifier });
    return sessionOf(randomBytes(32).toString('base64url'), reply);
  });

  return {
    redirectUri,
    store,
    internals: { ...createSeal(cookieSecret), now },
    authorizeUrl: (asked = {}) => authorizeUrl(options, asked, now() + PENDING_FOR),
    exchange: async (callback, pending) => {
      const { code, state, verifier } = checkAnswer(callback, pending, { issuer, now: now() });
      return exchangeOnce(state, code, verifier);
    },
    fresh: (session) => renewal.fresh(session),
    refresh: (session) => renewal.fresh(session, true),
    accessToken: async (session) => (await renewal.fresh(session)).accessToken,
    signOut: async (session) => {
      const { refreshToken } = renewal.newest(session);
      renewal.forget(session);
      await revokeToken(options, refreshToken);
    },
  };
}

function authorizeUrl(options: SignInOptions, asked: AuthorizeOptions, until: number) {
  const pending: Pending = {
    state: randomBytes(32).toString('base64url'),
    verifier: randomBytes(32).toString('base64url'),
    returnTo: asked.returnTo ?? '/',
    until,
  };
  const scope = typeof options.scope === 'string' ? options.scope : options.scope?.join(' ');
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: options.clientId, redirect_uri: options.redirectUri },
    ...{ state: pending.state, code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(pending.verifier).digest('base64url'),
    ...(scope !== undefined && { scope }),
    ...(asked.prompt !== undefined && { prompt: asked.prompt }),
    ...(asked.loginHint !== undefined && { login_hint: asked.loginHint }),
  });
  return { url: `${baseOf(options)}/oauth/authorize?${query}`, pending };
}

/** A browser may deliver an answer twice (a reload, a prefetch); a code used twice would end what it gave. */
function onceEach<Rest extends string[]>(
  now: () => number,
  work: (key: string, ...rest: Rest) => Promise<Session>,
): (key: string, ...rest: Rest) => Promise<Session> {
  const recent = new Map<string, { at: number; done: Promise<Session> }>();
  return (key, ...rest) => {
    for (const [old, { at }] of recent) if (at + SAME_EXCHANGE_FOR < now()) recent.delete(old);
    const known = recent.get(key);
    if (known !== undefined) return known.done;
    const done = work(key, ...rest);
    const [oldest] = recent.keys();
    if (recent.size >= MAX_RECENT && oldest !== undefined) recent.delete(oldest);
    recent.set(key, { at: now(), done });
    return done;
  };
}
