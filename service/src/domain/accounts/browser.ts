import type { FastifyReply, FastifyRequest } from 'fastify';
import { newSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import { clientNetwork } from '../../platform/http/network.ts';
import { type Locale, preferredLocale } from '../../platform/mail/locale.ts';
import { readCookie, readDeviceCookie, setCookie, setDeviceCookie } from './cookie.ts';
import { csrfToken } from './csrf.ts';
import { describeBrowser } from './device.ts';
import { touchSession } from './session-store.ts';
import { readSession, type Session } from './sessions.ts';
import type { Source } from './throttle.ts';

/**
 * The browser behind a request. Every browser has a random cookie. The browser is signed in if the database has a
 * session for its cookie.
 */
export type Browser = {
  cookie: string;
  session: Session | null;
  csrf: string;
  source: Source;
  /**
   * The language for emails to addresses without an account, from `Accept-Language`. New accounts start with this
   * language.
   */
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
  const session = existing === null ? null : await readSession(ctx, existing);
  if (session?.isUseStale) await touchSession(ctx.db, session.id);
  const browser = describeBrowser(request.headers['user-agent']);
  const source = { device, network: clientNetwork(request), browser };
  const locale = preferredLocale(request.headers['accept-language']);
  return { cookie, session, csrf: csrfToken(ctx, cookie), source, locale };
}
