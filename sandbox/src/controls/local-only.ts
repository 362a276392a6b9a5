import { ApiError } from '@causeway/service/kernel/errors.ts';
import { isLoopback } from '@causeway/service/kernel/loopback.ts';
import type { Context } from '@causeway/service/platform/context/context.ts';
import type { Route } from '@causeway/service/platform/http/route.ts';

type Headers = Record<string, string | string[] | undefined>;

const FORWARDING_HEADER = /^(x-forwarded(-.*)?|forwarded|x-real-ip|via)$/;

/** Restricts a control to requests that are addressed to this machine and have not passed through a proxy. */
export function localOnly(ctx: Context, route: Route): Route {
  return {
    ...route,
    handle: (own, caller, input) => {
      assertLocal(ctx, (input as { request: { headers: Headers } }).request.headers);
      return route.handle(own, caller, input);
    },
  };
}

/**
 * Refuses requests that are not addressed to this machine (according to the `Host` header), and requests that have
 * passed through a proxy. Otherwise a web page could reach loopback through its own host name (DNS rebinding), and a
 * proxy could expose the controls.
 */
export function assertLocal({ config, baseUrl }: Context, headers: Headers): void {
  if (config.sandboxPublic) return;
  const host = hostname(headers.host);
  const isOwn = host !== null && (isLoopback(host) || host === new URL(baseUrl).hostname);
  if (!isOwn || Object.keys(headers).some((name) => FORWARDING_HEADER.test(name)))
    throw new ApiError('local_only');
}

function hostname(host: string | string[] | undefined): string | null {
  const url = `http://${String(host)}`;
  return typeof host === 'string' && URL.canParse(url) ? new URL(url).hostname : null;
}
