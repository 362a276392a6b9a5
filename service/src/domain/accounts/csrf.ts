import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';

/** Derives the form token from the cookie, so that forms are bound to the browser even before the user signs in. */
export function csrfToken({ sealing }: Context, cookie: string): string {
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
