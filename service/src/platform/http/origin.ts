/** Returns the origin of a server on a host and port. IPv6 addresses are bracketed in URLs (RFC 3986 §3.2.2). */
export function httpOrigin(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
