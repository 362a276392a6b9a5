import { errorOfReply } from '../error.ts';
import { trimBaseUrl } from '../request.ts';
import { SignInError } from './sign-in-error.ts';

/** The credentials of a confidential OAuth client. */
export type ClientCredentials = {
  /** The URL of the service without `/v1`, such as `https://causeway.example`. */
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  /** How to send the client secret. Default: `basic` (HTTP Basic authentication). */
  clientAuth?: 'basic' | 'body' | undefined;
  fetch?: typeof fetch | undefined;
  /** The timeout for token requests, in milliseconds. Default: 10,000. */
  timeout?: number | undefined;
};

export type TokenReply = {
  access_token: string;
  expires_in: number;
  refresh_token?: string;
  id_token?: string;
  scope?: string;
};

const DEFAULT_TIMEOUT_MS = 10_000;

export async function requestTokens(
  client: ClientCredentials,
  fields: Record<string, string>,
): Promise<TokenReply> {
  const reply = (await post(client, '/oauth/token', fields)) as Partial<TokenReply> | undefined;
  if (typeof reply?.access_token !== 'string' || typeof reply.expires_in !== 'number')
    throw new SignInError('unavailable');
  return reply as TokenReply;
}

export async function revokeToken(client: ClientCredentials, token: string): Promise<void> {
  await post(client, '/oauth/revoke', { token });
}

/**
 * Posts a form and returns the parsed response. If the request fails, throws a `SignInError` whose cause is the
 * service's error or the network error. Neither error contains request data.
 */
async function post(
  client: ClientCredentials,
  path: string,
  fields: Record<string, string>,
): Promise<unknown> {
  const usesBody = client.clientAuth === 'body';
  const credentials = { client_id: client.clientId, client_secret: client.clientSecret };
  let status: number;
  let body: unknown;
  let headers: Headers;
  try {
    const reply = await (client.fetch ?? fetch)(`${trimBaseUrl(client.baseUrl)}${path}`, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...(!usesBody && { authorization: basicAuth(client) }),
      },
      body: new URLSearchParams({ ...fields, ...(usesBody && credentials) }).toString(),
      // Does not follow redirects, which could send the client secret to another server.
      redirect: 'error',
      signal: AbortSignal.timeout(client.timeout ?? DEFAULT_TIMEOUT_MS),
    });
    ({ status, headers } = reply);
    const text = await reply.text();
    body = text === '' ? undefined : JSON.parse(text);
  } catch (error) {
    throw new SignInError('unavailable', error);
  }
  if (status >= 200 && status < 300) return body;
  const error = errorOfReply(status, body, headers);
  if (status === 429 || status >= 500) throw new SignInError('unavailable', error);
  const isInvalidGrant = (body as { error?: unknown } | undefined)?.error === 'invalid_grant';
  const isSessionExpired = isInvalidGrant && fields.grant_type === 'refresh_token';
  throw new SignInError(isSessionExpired ? 'not_signed_in' : 'refused', error);
}

/** Form-encodes the client id and the secret before joining them, as RFC 6749 §2.3.1 requires. */
function basicAuth({ clientId, clientSecret }: ClientCredentials): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64')}`;
}
