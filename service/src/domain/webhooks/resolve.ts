import { Resolver } from 'node:dns/promises';
import { isAddress } from './address-rules.ts';

/** Returns all addresses of a host name; an empty list if it has none. */
export type Resolve = (host: string) => Promise<string[]>;

const TIMEOUT_MS = 1_500;
const TRIES = 2;

/**
 * Resolves with Node's `Resolver` (c-ares), not with `dns.lookup`. `dns.lookup` calls `getaddrinfo`, which would block
 * a thread of Node's small shared pool, so a few endpoints with slow name servers could stall the whole process.
 */
export function systemResolver(): Resolve {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  return async (host) => {
    if (isAddress(host)) return [host];
    if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}
