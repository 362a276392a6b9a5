import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { isSecret, newSecret } from '../secret-hash.ts';
import { readSession, type Session } from './sessions.ts';

/** A browser at one of our pages. Every browser has a cookie; being signed in is a matter of the database. */
export type Visit = { browser: string; session: Session | null; csrf: string };

export async function openVisit(ctx: Context, request: FastifyRequest, reply: FastifyReply): Promise<Visit> {
  const known = readCookie(ctx, request);
  const browser = known ?? newSecret(ctx.random);
  if (known === null) setCookie(ctx, reply, browser);
  const session = known === null ? null : await readSession(ctx, known);
  return { browser, session, csrf: csrfToken(ctx, browser) };
}

/** The cookie in a browser's request, of whoever wants to know who is signed in there. */
export function readCookie(
  { baseUrl }: Context,
  { headers }: Pick<FastifyRequest, 'headers'>,
): string | null {
  const prefix = `${cookieName(baseUrl)}=`;
  const found = headers.cookie?.split(';').find((part) => part.trim().startsWith(prefix));
  const value = found?.trim().slice(prefix.length);
  return value !== undefined && isSecret(value) ? value : null;
}

export function setCookie({ baseUrl }: Context, reply: FastifyReply, value: string): void {
  const secure = isSecure(baseUrl) ? '; Secure' : '';
  reply.header('set-cookie', `${cookieName(baseUrl)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}`);
}

/** With the prefix a browser takes the cookie from this very host over TLS only, not from a neighbour. */
function cookieName(baseUrl: string): string {
  return isSecure(baseUrl) ? '__Host-causeway' : 'causeway';
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}

function csrfToken({ sealing }: Context, browser: string): string {
  return sealing.tag('csrf', browser).toString('base64url');
}

/** Refuses a form that was not on a page that this browser got from us. */
export function checkForgery(
  ctx: Context,
  { headers }: FastifyRequest,
  { browser }: Visit,
  token: unknown,
): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isForeign =
    (origin !== undefined && origin !== new URL(ctx.baseUrl).origin) ||
    (site !== undefined && site !== 'same-origin');
  const isGenuine =
    typeof token === 'string' && ctx.sealing.verifyTag('csrf', browser, Buffer.from(token, 'base64url'));
  if (isForeign || !isGenuine) throw new ApiError('forged_form');
}
