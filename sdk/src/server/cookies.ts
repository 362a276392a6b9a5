/** A web `Request`, a request of Node, or just what carries its headers (`{ headers: await headers() }` of Next). */
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
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at), pair.slice(at + 1)]];
    }),
  );
}

/** Browsers promise room for so much of a cookie (RFC 6265 §6.1). */
export const COOKIE_ROOM = 4096;

type Kept = { secure: boolean; maxAge: number };

export function writeCookie(name: string, value: string, { secure, maxAge }: Kept): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

/** With the prefix a browser takes the cookie from this very host only, over TLS: no subdomain can plant one. */
export function cookieName(name: string, secure: boolean): string {
  return `${secure ? '__Host-' : ''}${name}`;
}
