import { isLoopback } from '../../kernel/loopback.ts';
import type { Kernel } from '../context/kernel.ts';

type Parts = { config: Pick<Kernel['config'], 'profile'>; baseUrl: string };

/**
 * Returns the public URL with `localhost` as its host, so that passkeys work: WebAuthn requires a domain name. Returns
 * null unless this is a sandbox and the host is a loopback IP address.
 */
export function localhostUrl({ config, baseUrl }: Parts): string | null {
  const url = new URL(baseUrl);
  if (config.profile !== 'sandbox' || url.hostname === 'localhost' || !isLoopback(url.hostname)) return null;
  url.hostname = 'localhost';
  return url.origin;
}

/**
 * Returns the base URL that the browser uses: `localhostUrl` if the request was sent to that host, otherwise the public
 * URL.
 */
export function visitedUrl(ctx: Parts, { headers }: { headers: { host?: string | undefined } }): string {
  const localhost = localhostUrl(ctx);
  return localhost !== null && headers.host === new URL(localhost).host ? localhost : ctx.baseUrl;
}
