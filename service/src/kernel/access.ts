import type { FastifyRequest } from 'fastify';
import { ApiError } from './errors.ts';

export const SCOPES = {
  'offers:read': 'See the offers in this app',
  'requirements:read': 'See which checks you need to complete before investing, and your progress',
  'participations:read': 'See the investments you made through this app',
  'participations:write': 'Invest in offers on your behalf',
  'wallets:read': 'See the wallets you connected to offers',
  'wallets:write': 'Connect and disconnect your wallets',
  'identity:write': 'Start your identity verification',
  'pii:read': 'See your name, date of birth, address and tax number',
  'documents:write': 'Send you tax forms to sign',
  'swaps:read': 'See swap prices, balances and limits',
  'swaps:write': 'Prepare swaps for your wallet to sign',
  'events:read': 'Receive updates about what you allowed this app to see',
  'webhooks:write': "Manage the app's webhooks",
  openid: 'Know who you are',
  email: 'See your email address',
  offline_access: 'Stay connected while you are not using the app',
} as const;

export type Scope = keyof typeof SCOPES;

/** Scopes that a partner can use without a user (client credentials). */
export const PARTNER_SCOPES: readonly Scope[] = [
  'offers:read',
  'requirements:read',
  'participations:read',
  'swaps:read',
  'events:read',
  'webhooks:write',
];

/** Returns whether a user can grant the scope. No user can grant `webhooks:write`: webhooks belong to the partner. */
export function isUserScope(scope: string): boolean {
  return scope in SCOPES && scope !== 'webhooks:write';
}

/** The authenticated caller: a partner acting for one of its users or for itself. */
export type Caller = {
  clientId: string;
  partnerId: string;
  userId: string | null;
  scopes: ReadonlySet<string>;
  /** Origins of the partner's web pages. */
  origins: ReadonlySet<string>;
  /** Identifies the caller: the client and, if there is one, the user. */
  key: string;
};

/** Precomputes the values that all requests with the same token share. */
export function newCaller(facts: Omit<Caller, 'key'>): Caller {
  const { clientId, userId } = facts;
  return { ...facts, key: userId === null ? clientId : `${clientId} ${userId}` };
}

export type UserCaller = Caller & { userId: string };

/** The part of the authorization server that every request needs. */
export type Guard = {
  /**
   * Returns the caller that the access token belongs to, or null if the token is invalid. Returns synchronously if the
   * token is cached. Otherwise reads the database. The query waits in the lane (`OpenPool.laneOf`) of the network that
   * the request comes from, because the partner is not known yet. Without `request`, the query waits in the node's own
   * lane.
   */
  check(token: string, request?: Pick<FastifyRequest, 'ip' | 'raw'>): Caller | null | Promise<Caller | null>;
  isCached(token: string): boolean;
  /** Returns the partner that a cached token was issued to. */
  partnerOf(token: string): string | undefined;
  /** Returns whether any partner has registered this origin. Used for preflights, which carry no token. */
  knowsOrigin(origin: string): boolean;
};

const MAX_HEADER_LENGTH = 2048;

/** Extracts the token from an `Authorization` header. Throws `unauthorized` if the header has no token. */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) throw unauthorized();
  const token = authorization.slice(7);
  if (authorization.length > MAX_HEADER_LENGTH || token === '' || !/^Bearer /i.test(authorization))
    throw unauthorized('invalid_request');
  return token;
}

/** Returns the error for a 401 reply, with the `WWW-Authenticate` challenge that RFC 6750 §3 requires. */
export function unauthorized(error?: 'invalid_request' | 'invalid_token'): ApiError {
  const challenge =
    error === undefined ? 'Bearer realm="causeway"' : `Bearer realm="causeway", error="${error}"`;
  return new ApiError('unauthorized', {}, { headers: { 'www-authenticate': challenge } });
}

/** Throws unless the caller may use a route that requires `who` and `scope`. */
export function authorize(caller: Caller, who: 'partner' | 'user', scope: Scope): void {
  if (who === 'user' && caller.userId === null) throw new ApiError('user_token_required');
  if (!caller.scopes.has(scope)) {
    const challenge = `Bearer realm="causeway", error="insufficient_scope", scope="${scope}"`;
    throw new ApiError(
      'insufficient_scope',
      { scope: [scope] },
      { headers: { 'www-authenticate': challenge } },
    );
  }
}

/** Returns the caller in the form that the audit log records. */
export function actorOf({ clientId, userId }: Caller): { object: string; id: string } {
  return userId === null ? { object: 'client', id: clientId } : { object: 'user', id: userId };
}
