import { ApiError } from '../../kernel/errors.ts';
import { matchesSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import type { RegisteredClient, VerifiedToken } from '../../platform/context/ports.ts';
import type { Taken } from '../../platform/limits/rate-limits.ts';
import { enforceLimit } from '../../platform/limits/rate-limits.ts';
import type { Introspect, Introspection } from './schema.ts';

type IntrospectRequest = {
  body: Introspect;
  authorization: string | undefined;
  network: string;
  limited(taken: Taken): void;
};

const INACTIVE: Introspection = { active: false };

/**
 * Introspects a token (RFC 7662). Credentials are optional. Without them, a strict rate limit per IP network applies.
 * Returns synchronously if the token and the client are cached.
 */
export function introspectToken(
  ctx: Context,
  { body, authorization, network, limited }: IntrospectRequest,
): Introspection | Promise<Introspection> {
  const credentials = readCredentials(body, authorization);
  const client =
    credentials === null ? limitAnonymous(ctx, network, limited) : authenticate(ctx, credentials, network);
  const introspect = (clientId: string | null): Introspection | Promise<Introspection> => {
    const found = ctx.guard.inspect(body.token, network);
    return found instanceof Promise
      ? found.then((token) => describe(ctx, token, clientId))
      : describe(ctx, found, clientId);
  };
  return client instanceof Promise ? client.then(introspect) : introspect(client);
}

function describe({ baseUrl }: Context, token: VerifiedToken | null, clientId: string | null): Introspection {
  if (token === null || (clientId !== null && token.caller.clientId !== clientId)) return INACTIVE;
  const { caller, username, exp, iat, scope } = token;
  const { clientId: client_id, userId: sub } = caller;
  // Writes out every object, because a spread would cost more than the rest of a cached introspection.
  if (sub === null) return { active: true, client_id, exp, iat, iss: baseUrl, scope };
  return username === null
    ? { active: true, client_id, exp, iat, iss: baseUrl, scope, sub }
    : { active: true, client_id, exp, iat, iss: baseUrl, scope, sub, username };
}

type Credentials = { id: string; secret: string };

/** Reads the body or HTTP Basic, not both (RFC 6749 §2.3). An id without a secret counts as no credentials. */
function readCredentials(
  { client_id, client_secret }: Introspect,
  authorization: string | undefined,
): Credentials | null {
  if (authorization === undefined || /^Bearer\b/i.test(authorization))
    return client_secret ? { id: client_id ?? '', secret: client_secret } : null;
  if (client_secret)
    throw new ApiError(
      'malformed_request',
      {},
      { message: 'Send the client credentials either in the body or as HTTP Basic, not both.' },
    );
  const basic = readBasic(authorization);
  if (client_id && client_id !== basic.id) throw invalidClient();
  return basic;
}

/** Reads HTTP Basic credentials. Throws `unauthorized` if they are malformed. */
export function readBasic(authorization: string): Credentials {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 0) throw invalidClient();
  try {
    return { id: decodePart(text.slice(0, colon)), secret: decodePart(text.slice(colon + 1)) };
  } catch {
    throw invalidClient();
  }
}

/** Both parts are form-encoded (RFC 6749 §2.3.1). PostgreSQL text cannot store NUL. */
function decodePart(text: string): string {
  const decoded = decodeURIComponent(text.replaceAll('+', ' '));
  if (decoded.includes('\0')) throw new Error('NUL character');
  return decoded;
}

function authenticate(
  { guard, failedAuthentication }: Context,
  { id, secret }: Credentials,
  network: string,
): string | Promise<string> {
  const verify = (client: RegisteredClient | undefined): string => {
    if (client !== undefined && matchesSecret(secret, client.secret_hashes)) return client.client_id;
    failedAuthentication.count(network);
    throw invalidClient();
  };
  failedAuthentication.assertMayTry(network);
  const found = guard.client(id);
  return found instanceof Promise ? found.then(verify) : verify(found);
}

function invalidClient(): ApiError {
  return new ApiError(
    'unauthorized',
    {},
    {
      message: 'Invalid client credentials.',
      headers: { 'www-authenticate': 'Basic realm="causeway", error="invalid_client"' },
    },
  );
}

/** Limits requests without credentials, so that an attacker cannot test a list of stolen tokens. */
function limitAnonymous(
  ctx: Context,
  network: string,
  limited: IntrospectRequest['limited'],
): null | Promise<null> {
  const report = (taken: Taken): null => {
    limited(taken);
    return null;
  };
  const taken = enforceLimit(ctx, 'introspection', network);
  return taken instanceof Promise ? taken.then(report) : report(taken);
}
