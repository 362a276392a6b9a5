import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { isSecret } from '../secret-hash.ts';

/** Returns the browser's cookie, or null if it is missing or malformed. */
export function readCookie(
  { baseUrl }: Context,
  { headers }: Pick<FastifyRequest, 'headers'>,
): string | null {
  const prefix = `${cookieName(baseUrl)}=`;
  const pair = headers.cookie?.split(';').find((part) => part.trim().startsWith(prefix));
  const value = pair?.trim().slice(prefix.length);
  return value !== undefined && isSecret(value) ? value : null;
}

export function setCookie({ baseUrl }: Context, reply: FastifyReply, value: string): void {
  const secure = isSecure(baseUrl) ? '; Secure' : '';
  reply.header('set-cookie', `${cookieName(baseUrl)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}`);
}

/** With the `__Host-` prefix, browsers accept the cookie only over TLS and never from a sibling domain. */
function cookieName(baseUrl: string): string {
  return isSecure(baseUrl) ? '__Host-causeway' : 'causeway';
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}
