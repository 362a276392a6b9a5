/**
 * A web `Request`, a Node request, or an object with the request's headers
 * (in Next: `{ headers: await headers() }`).
 */
export type HasHeaders = {
  headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
};

export function headerOf({ headers }: HasHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function')
    return (headers as { get(name: string): string | null }).get(name) ?? undefined;
  const value = (headers as Record<string, string | readonly string[] | undefined>)[name];
  return typeof value === 'string' ? value : value?.join('; ');
}

export function cookiesOf(request: HasHeaders): Map<string, string> {
  const pairs = (headerOf(request, 'cookie') ?? '').split(';').map((pair) => pair.trim());
  return new Map(
    pairs.flatMap((pair) => {
      const separator = pair.indexOf('=');
      return separator < 1 ? [] : [[pair.slice(0, separator), pair.slice(separator + 1)]];
    }),
  );
}

/** The cookie size that browsers must support (RFC 6265 §6.1). */
export const MAX_COOKIE_BYTES = 4096;

type CookieOptions = { secure: boolean; maxAge: number };

export function writeCookie(name: string, value: string, { secure, maxAge }: CookieOptions): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

/**
 * Adds the `__Host-` prefix on HTTPS: browsers then accept the cookie from this host only, so no subdomain can plant
 * one.
 */
export function cookieName(name: string, secure: boolean): string {
  return `${secure ? '__Host-' : ''}${name}`;
}
