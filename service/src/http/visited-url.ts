import { isLoopback } from '../config/sandbox-settings.ts';
import type { Kernel } from '../kernel.ts';

type Parts = { config: Pick<Kernel['config'], 'profile'>; baseUrl: string };

/**
 * If the public URL of a sandbox is a loopback IP address, returns that URL with `localhost` instead of the IP address.
 * Passkeys work only on `localhost`, because WebAuthn requires a domain name. Returns null in every other case.
 */
export function localhostUrl({ config, baseUrl }: Parts): string | null {
  const url = new URL(baseUrl);
  if (config.profile !== 'sandbox' || url.hostname === 'localhost' || !isLoopback(url.hostname)) return null;
  url.hostname = 'localhost';
  return url.origin;
}

/** Returns the address that the browser uses: the public URL or, in a sandbox, `localhostUrl`. */
export function visitedUrl(ctx: Parts, { headers }: { headers: { host?: string | undefined } }): string {
  const localhost = localhostUrl(ctx);
  return localhost !== null && headers.host === new URL(localhost).host ? localhost : ctx.baseUrl;
}
