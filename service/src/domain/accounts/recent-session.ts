import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Browser } from './browser.ts';
import type { PageHandler, PageRequest, PageResponse } from './page-route.ts';
import type { Session } from './sessions.ts';

type Handle = (
  ctx: Context,
  browser: Browser,
  request: PageRequest,
  session: Session,
) => Promise<PageResponse> | PageResponse;

const SIGN_IN: PageResponse = { redirect: '/sign-in' };

/**
 * Wraps a page for signed-in users. Redirects everyone else to the sign-in page, including users whose session ends
 * during the request.
 */
export function withSession(handle: Handle): PageHandler {
  return async (ctx, browser, request) => {
    if (browser.session === null) return SIGN_IN;
    try {
      return await handle(ctx, browser, request, browser.session);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthorized') return SIGN_IN;
      throw error;
    }
  };
}

/**
 * Wraps a page for users who signed in within the last few minutes. Other users must sign in again, and are then sent
 * back to `path`. Without this check, a browser that was left signed in would be enough to take over the account.
 */
export function withRecentSession(path: string, handle: Handle): PageHandler {
  const next = path === '/account' ? '' : `&next=${encodeURIComponent(path)}`;
  return withSession((ctx, browser, request, session) =>
    session.isRecent ? handle(ctx, browser, request, session) : { redirect: `/sign-in?again=yes${next}` },
  );
}
