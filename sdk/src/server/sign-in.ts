import { createHash, randomBytes } from 'node:crypto';
import { trimBaseUrl } from '../request.ts';
import { checkCallback, type Pending } from './pending.ts';
import { createRenewal } from './renewal.ts';
import { createSeal, type Seal } from './seal.ts';
import { hideTokens, type Session, type SessionStore } from './session.ts';
import { memorySessions, type SessionStorage } from './session-storage.ts';
import { SignInError } from './sign-in-error.ts';
import { storedSessions } from './stored-sessions.ts';
import { type ClientCredentials, requestTokens, revokeToken, type TokenReply } from './token-endpoint.ts';
import { userOf } from './user.ts';

export type SignInOptions = ClientCredentials & {
  /**
   * A registered redirect URI. Only pages with the same origin as this URI may request tokens. If the URI uses HTTPS,
   * cookies are `Secure`.
   */
  redirectUri: string;
  /**
   * The secret that encrypts cookies and stored sessions: at least 32 random characters. Pass an array to rotate
   * secrets, newest first.
   */
  cookieSecret: string | readonly string[];
  /** The scopes to request. Default: all scopes that the client is registered for. */
  scope?: string | readonly string[] | undefined;
  /**
   * Where sessions are stored: `memorySessions()` (the default), `postgresSessions(pool)`, `redisSessions(client)`,
   * your own `SessionStorage`, or `cookieSessions(…)`, which puts the refresh token into an encrypted browser cookie.
   */
  store?: SessionStore | SessionStorage | undefined;
  /** The service's issuer. Default: `baseUrl`. */
  issuer?: string | undefined;
  now?: (() => number) | undefined;
};

export type AuthorizeOptions = {
  /** A path in this app to return to after the sign-in. */
  returnTo?: string | undefined;
  prompt?: 'none' | 'login' | 'consent' | undefined;
  loginHint?: string | undefined;
};

/** A partner app's sign-in. It runs on the app's server, because it needs the client secret. */
export type SignIn = {
  readonly redirectUri: string;
  readonly store: SessionStore;
  /** Used by this package's handlers. */
  readonly internals: Seal & { now(): number };
  /** Returns the URL to redirect the browser to, and the pending sign-in to store until the browser returns. */
  authorizeUrl(options?: AuthorizeOptions): { url: string; pending: Pending };
  /** Exchanges the callback URL for a session. Repeated deliveries of the same callback share one exchange. */
  exchange(callback: string | URL | URLSearchParams, pending: Pending | undefined): Promise<Session>;
  /**
   * Returns the session with a token that does not expire soon. Save the returned session if it differs from the one
   * passed in.
   */
  fresh(session: Session): Promise<Session>;
  /** Renews the session even if its token has not expired. Call `refresh` when the service has rejected the token. */
  refresh(session: Session): Promise<Session>;
  /** Returns an access token for the session's user, renewed if necessary. */
  accessToken(session: Session): Promise<string>;
  /** Revokes the session's tokens. */
  signOut(session: Session): Promise<void>;
};

const PENDING_TTL_MS = 10 * 60_000;
const EXCHANGE_TTL_MS = 60_000;
const MAX_EXCHANGES = 1_000;

/**
 * Creates an app's sign-in: authorization code flow with PKCE, sessions and session renewal.
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
  const baseUrl = trimBaseUrl(options.baseUrl);
  const issuer = options.issuer === undefined ? baseUrl : trimBaseUrl(options.issuer, 'issuer');
  if (!URL.canParse(redirectUri))
    throw new TypeError(
      `redirectUri must be an absolute URL such as https://app.example/callback, not ${JSON.stringify(redirectUri)}`,
    );
  const secure = new URL(redirectUri).protocol === 'https:';
  const given = options.store ?? defaultSessions(now);
  const store = 'load' in given ? given : storedSessions(given, { secret: cookieSecret, secure, now });
  const toSession = (id: string, reply: TokenReply, previous?: Session): Session => {
    const refreshToken = reply.refresh_token ?? previous?.refreshToken;
    if (refreshToken === undefined) throw new SignInError('refused');
    return hideTokens({
      ...{ id, refreshToken, accessToken: reply.access_token, refreshedAt: now() },
      expiresAt: now() + reply.expires_in * 1000,
      scope: reply.scope ?? previous?.scope ?? '',
      user: previous?.user ?? userOf(reply.id_token, { issuer, clientId: options.clientId, now: now() }),
    });
  };

  const renewal = createRenewal(now, async (session) => {
    const fields = { grant_type: 'refresh_token', refresh_token: session.refreshToken };
    return toSession(session.id, await requestTokens(options, fields), session);
  });
  const exchangeOnce = shareByKey(now, async (_state, code: string, verifier: string) => {
    const grant = { grant_type: 'authorization_code', redirect_uri: redirectUri };
    const reply = await requestTokens(options, { ...grant, code, code_verifier: verifier });
    return toSession(randomBytes(32).toString('base64url'), reply);
  });

  return {
    redirectUri,
    store,
    internals: { ...createSeal(cookieSecret), now },
    authorizeUrl: (request = {}) => authorizeUrl(options, request, now() + PENDING_TTL_MS),
    exchange: async (callback, pending) => {
      const { code, state, verifier } = checkCallback(callback, pending, { issuer, now: now() });
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

/** Returns in-memory session storage. Emits a warning in production. */
export function defaultSessions(now: () => number): SessionStorage {
  if (process.env.NODE_ENV === 'production')
    process.emitWarning(
      "Causeway sessions are stored in this process's memory, so a restart signs everyone out. Pass `store` to createSignIn, for example postgresSessions(pool).",
      { code: 'CAUSEWAY_MEMORY_SESSIONS' },
    );
  return memorySessions({ now });
}

function authorizeUrl(options: SignInOptions, request: AuthorizeOptions, until: number) {
  const pending: Pending = {
    state: randomBytes(32).toString('base64url'),
    verifier: randomBytes(32).toString('base64url'),
    returnTo: request.returnTo ?? '/',
    until,
  };
  const scope = typeof options.scope === 'string' ? options.scope : options.scope?.join(' ');
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: options.clientId, redirect_uri: options.redirectUri },
    ...{ state: pending.state, code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(pending.verifier).digest('base64url'),
    ...(scope !== undefined && { scope }),
    ...(request.prompt !== undefined && { prompt: request.prompt }),
    ...(request.loginHint !== undefined && { login_hint: request.loginHint }),
  });
  return { url: `${trimBaseUrl(options.baseUrl)}/oauth/authorize?${query}`, pending };
}

/**
 * Wraps `work` so that calls with the same key share one run and its result. A browser may request a callback URL
 * twice, for example on a reload or a prefetch. If both requests exchanged the authorization code, the service would
 * revoke the tokens.
 */
function shareByKey<Rest extends string[]>(
  now: () => number,
  work: (key: string, ...rest: Rest) => Promise<Session>,
): (key: string, ...rest: Rest) => Promise<Session> {
  const recent = new Map<string, { startedAt: number; result: Promise<Session> }>();
  return (key, ...rest) => {
    for (const [other, { startedAt }] of recent)
      if (startedAt + EXCHANGE_TTL_MS < now()) recent.delete(other);
    const known = recent.get(key);
    if (known !== undefined) return known.result;
    const result = work(key, ...rest);
    const [oldest] = recent.keys();
    if (recent.size >= MAX_EXCHANGES && oldest !== undefined) recent.delete(oldest);
    recent.set(key, { startedAt: now(), result });
    return result;
  };
}
