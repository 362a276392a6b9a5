import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../kernel/errors.ts';
import { isSecret, newSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import { clientNetwork } from '../../platform/http/network.ts';
import { type Locale, preferredLocale } from '../../platform/mail/catalogue.ts';
import { describeBrowser } from './device.ts';
import { findSession, type Session, touchSession } from './session-store.ts';
import type { Source } from './throttle.ts';

/** The browser behind a request. It is signed in if the database has a session for its cookie. */
export type Browser = {
  cookie: string;
  session: Session | null;
  csrf: string;
  source: Source;
  /** The language for emails to addresses without an account, and of new accounts. From `Accept-Language`. */
  locale: Locale;
};

/** Reads the browser's cookie and session. Sets a new cookie if the browser has none. */
export async function identifyBrowser(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Browser> {
  const existing = readCookie(ctx, request);
  const cookie = existing ?? newSecret(ctx.random);
  if (existing === null) setCookie(ctx, reply, cookie);
  const knownDevice = readDeviceCookie(ctx, request);
  const device = knownDevice ?? newSecret(ctx.random);
  if (knownDevice === null) setDeviceCookie(ctx, reply, device);
  const session = existing === null ? null : await findSession(ctx.db, existing);
  if (session?.isUseStale) await touchSession(ctx.db, session.id);
  const browser = describeBrowser(request.headers['user-agent']);
  const source = { device, network: clientNetwork(request), browser };
  const locale = preferredLocale(request.headers['accept-language']);
  return { cookie, session, csrf: csrfToken(ctx, cookie), source, locale };
}

const SESSION = 'causeway';
const DEVICE = 'causeway_device';
const DEVICE_TTL_SECONDS = 365 * 24 * 3600;

export function readCookie(ctx: Context, request: Pick<FastifyRequest, 'headers'>): string | null {
  return readSecret(ctx, request, SESSION);
}

/** Reads the long-lived cookie that identifies a browser even after its session has ended. It gives no access. */
function readDeviceCookie(ctx: Context, request: Pick<FastifyRequest, 'headers'>): string | null {
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

function setDeviceCookie(ctx: Context, reply: FastifyReply, value: string): void {
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

/** Derives the form token from the cookie, so that forms are bound to the browser even before the user signs in. */
function csrfToken({ sealing }: Context, cookie: string): string {
  return sealing.tag('csrf', cookie).toString('base64url');
}

/** Throws `forged_form` unless the form comes from one of our pages, loaded by this browser. */
export function checkCsrf(
  ctx: Context,
  { headers }: FastifyRequest,
  { cookie }: { cookie: string },
  token: unknown,
): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isCrossOrigin =
    (origin !== undefined && origin !== new URL(ctx.baseUrl).origin) ||
    (site !== undefined && site !== 'same-origin');
  const isValid =
    typeof token === 'string' && ctx.sealing.verifyTag('csrf', cookie, Buffer.from(token, 'base64url'));
  if (isCrossOrigin || !isValid) throw new ApiError('forged_form');
}
