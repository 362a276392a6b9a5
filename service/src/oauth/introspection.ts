import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { matchesSecret } from '../secret-hash.ts';
import type { RegisteredClient } from './client.ts';
import type { Introspect, Introspection } from './schema.ts';
import type { VerifiedToken } from './token-check.ts';

type Asked = { body: Introspect; authorization: string | undefined; address: string };

const INACTIVE: Introspection = { active: false };

/** RFC 7662, with credentials optional: without them the token itself is the proof, under a strict limit. */
export function introspectToken(
  ctx: Context,
  { body, authorization, address }: Asked,
): Introspection | Promise<Introspection> {
  const credentials = readCredentials(body, authorization);
  const entry = credentials === null ? limitStranger(ctx, address) : authenticate(ctx, credentials);
  const tell = (clientId: string | null): Introspection | Promise<Introspection> => {
    const found = ctx.guard.inspect(body.token);
    return found instanceof Promise
      ? found.then((token) => describe(ctx, token, clientId))
      : describe(ctx, found, clientId);
  };
  return entry instanceof Promise ? entry.then(tell) : tell(entry);
}

function describe({ baseUrl }: Context, token: VerifiedToken | null, clientId: string | null): Introspection {
  if (token === null || (clientId !== null && token.caller.clientId !== clientId)) return INACTIVE;
  const { caller, username, exp, iat, scope } = token;
  const about = { active: true, client_id: caller.clientId, exp, iat, iss: baseUrl, scope };
  return caller.userId === null || username === null ? about : { ...about, sub: caller.userId, username };
}

type Credentials = { id: string; secret: string };

/** In the body or by HTTP Basic, not both (RFC 6749 §2.3). Half of a pair is a wrong one. */
function readCredentials(
  { client_id, client_secret }: Introspect,
  authorization: string | undefined,
): Credentials | null {
  const inBody = client_id !== undefined || client_secret !== undefined;
  if (authorization === undefined)
    return inBody ? { id: client_id ?? '', secret: client_secret ?? '' } : null;
  if (client_secret !== undefined)
    throw new ApiError('malformed_request', {}, { message: 'Send the credentials in one way only.' });
  const basic = readBasic(authorization);
  if (client_id !== undefined && client_id !== basic.id) throw wrongCredentials();
  return basic;
}

function readBasic(authorization: string): Credentials {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 0) throw wrongCredentials();
  try {
    return { id: decodePart(text.slice(0, colon)), secret: decodePart(text.slice(colon + 1)) };
  } catch {
    throw wrongCredentials();
  }
}

/** Both parts are form-encoded before they are joined (RFC 6749 §2.3.1). */
function decodePart(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/** The client that proved itself, or 401. */
function authenticate({ guard }: Context, { id, secret }: Credentials): string | Promise<string> {
  const prove = (client: RegisteredClient | undefined): string => {
    if (client === undefined || !matchesSecret(secret, client.secret_hashes)) throw wrongCredentials();
    return client.client_id;
  };
  const found = guard.client(id);
  return found instanceof Promise ? found.then(prove) : prove(found);
}

function wrongCredentials(): ApiError {
  return new ApiError(
    'unauthorized',
    {},
    {
      message: 'The client credentials are wrong.',
      headers: { 'www-authenticate': 'Basic realm="causeway", error="invalid_client"' },
    },
  );
}

/** Guessing 256 bits is hopeless anyway; the limit keeps a list of stolen tokens from being sorted through. */
function limitStranger({ limiter, config }: Context, address: string): null | Promise<null> {
  const taken = limiter.take(`introspection ${address}`, config.limits.introspection);
  const check = ({ allowed, limit, resetSeconds }: Awaited<typeof taken>): null => {
    if (allowed) return null;
    const headers = {
      'retry-after': String(resetSeconds),
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(resetSeconds),
    };
    throw new ApiError('rate_limited', {}, { headers });
  };
  return taken instanceof Promise ? taken.then(check) : check(taken);
}
