import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';

const SESSION = 'causeway';
const DEVICE = 'causeway_device';
const DEVICE_TTL_SECONDS = 365 * 24 * 3600;

/** Returns the session cookie, or null if it is missing or malformed. */
export function readCookie(ctx: Context, request: Pick<FastifyRequest, 'headers'>): string | null {
  return readSecret(ctx, request, SESSION);
}

/**
 * Returns the long-lived cookie that identifies a browser even after its session has ended, or null. This cookie gives
 * no access.
 */
export function readDeviceCookie(ctx: Context, request: Pick<FastifyRequest, 'headers'>): string | null {
  return readSecret(ctx, request, DEVICE);
}

function readSecret(
  { baseUrl }: Context,
  { headers }: Pick<FastifyRequest, 'headers'>,
  name: string,
): string | null {
  const prefix = `${cookieName(baseUrl, name)}=`;
  const pair = headers.cookie?.split(';').find((part) => part.trim().startsWith(prefix));
  const value = pair?.trim().slice(prefix.length);
  return value !== undefined && isSecret(value) ? value : null;
}

export function setCookie(ctx: Context, reply: FastifyReply, value: string): void {
  setSecret(ctx, reply, SESSION, value);
}

export function setDeviceCookie(ctx: Context, reply: FastifyReply, value: string): void {
  setSecret(ctx, reply, DEVICE, `${value}; Max-Age=${DEVICE_TTL_SECONDS}`);
}

function setSecret({ baseUrl }: Context, reply: FastifyReply, name: string, value: string): void {
  const secure = isSecure(baseUrl) ? '; Secure' : '';
  reply.header(
    'set-cookie',
    `${cookieName(baseUrl, name)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}`,
  );
}

/** With the `__Host-` prefix, browsers accept the cookie only over TLS and never from a sibling domain. */
function cookieName(baseUrl: string, name: string): string {
  return isSecure(baseUrl) ? `__Host-${name}` : name;
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}
