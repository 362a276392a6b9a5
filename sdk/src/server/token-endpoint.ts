import { errorOfReply } from '../error.ts';
import { SignInError } from './sign-in-error.ts';

/** A confidential client of the service and how it proves itself. */
export type ClientCredentials = {
  /** Where the service is: `https://…`, without a path. */
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  /** By HTTP Basic unless told. */
  clientAuth?: 'basic' | 'body' | undefined;
  fetch?: typeof fetch | undefined;
  /** Milliseconds for one attempt; 10,000 unless told. */
  timeout?: number | undefined;
};

export type TokenReply = {
  access_token: string;
  expires_in: number;
  refresh_token?: string;
  id_token?: string;
  scope?: string;
};

export function baseOf({ baseUrl }: Pick<ClientCredentials, 'baseUrl'>): string {
  return baseUrl.replace(/\/+$/, '');
}

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

/** The service's own error is the cause; nothing of what was sent is in it. */
async function post(
  client: ClientCredentials,
  path: string,
  fields: Record<string, string>,
): Promise<unknown> {
  const inBody = client.clientAuth === 'body';
  const credentials = { client_id: client.clientId, client_secret: client.clientSecret };
  let status: number;
  let body: unknown;
  let headers: Headers;
  try {
    const reply = await (client.fetch ?? fetch)(`${baseOf(client)}${path}`, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...(!inBody && { authorization: basic(client) }),
      },
      body: new URLSearchParams({ ...fields, ...(inBody && credentials) }).toString(),
      // A redirect would take the secret elsewhere.
      redirect: 'error',
      signal: AbortSignal.timeout(client.timeout ?? 10_000),
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
  const isOver = (body as { error?: unknown } | undefined)?.error === 'invalid_grant';
  throw new SignInError(isOver && fields.grant_type === 'refresh_token' ? 'not_signed_in' : 'refused', error);
}

/** Form-encoded before it is joined (RFC 6749 §2.3.1). */
function basic({ clientId, clientSecret }: ClientCredentials): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64')}`;
}
