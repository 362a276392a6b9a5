import { isIP, isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

/**
 * Returns the network that a request comes from, for example to apply rate limits. For IPv4, the network is the address
 * itself. For IPv6, the network is the /64 of the address, because internet providers assign at least a /64 to each
 * customer. If `X-Forwarded-For` does not contain an address, uses the peer's address.
 */
export function clientNetwork({ ip, raw }: Pick<FastifyRequest, 'ip' | 'raw'>): string {
  // `isIPv4` accepts only one notation of each address, so the text can be used as it is.
  if (isIPv4(ip)) return ip;
  const address = [ip, raw.socket.remoteAddress ?? ''].find((each) => isIP(each) !== 0);
  if (address === undefined) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const groups = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${groups.join(':')}::/64`;
}
