import { ApiError, invalidField } from '../../kernel/errors.ts';
import { isLoopback } from '../../kernel/loopback.ts';
import { type AddressRules, isPermittedPort } from './address-rules.ts';
import type { Resolve } from './resolve.ts';

export type RefusalReason = 'not_https' | 'address' | 'port' | 'own_address' | 'unresolvable';

/** Thrown if a destination breaks the rules. The message does not contain the resolved address. */
export class DestinationRefused extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(`webhook destination refused: ${reason}`);
    this.name = 'DestinationRefused';
    this.reason = reason;
  }
}

export type Destination = { protocol: string; hostname: string; port: string };

export type UrlRules = {
  /** Throws `webhook_url_refused` if webhooks cannot be sent to the URL. */
  check(url: string): Promise<void>;
  /** Returns the addresses to connect to. Throws `DestinationRefused` if any address of the host breaks the rules. */
  permittedAddresses(destination: Destination): Promise<string[]>;
};

/**
 * Creates the rules for destinations. The rules apply when a URL is saved and again each time a connection is opened,
 * because a host name can resolve to another address later.
 */
export function createUrlRules(addresses: AddressRules, baseUrl: string, resolve: Resolve): UrlRules {
  const own = new URL(baseUrl);

  const permittedAddresses = async ({ protocol, hostname, port }: Destination): Promise<string[]> => {
    const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
    const number = port === '' ? defaultPort(protocol) : Number(port);
    if (host === '' || host.endsWith('.')) throw new DestinationRefused('address');
    if (protocol !== 'https:' && protocol !== 'http:') throw new DestinationRefused('not_https');
    if (number !== defaultPort(protocol) && !isPermittedPort(number)) throw new DestinationRefused('port');
    const isOwnPort = number === portOf(own);
    if (hostname === own.hostname && (isOwnPort || !isLoopback(own.hostname)))
      throw new DestinationRefused('own_address');
    const found = await resolve(host);
    if (protocol === 'http:' && (found.length === 0 || !found.every(addresses.isAllowedNetwork)))
      throw new DestinationRefused('not_https');
    if (found.length === 0) throw new DestinationRefused('unresolvable');
    if (!found.every(addresses.isPermitted)) throw new DestinationRefused('address');
    if (isOwnPort && found.some(isLoopback)) throw new DestinationRefused('own_address');
    return found;
  };

  return {
    permittedAddresses,
    check: async (url) => {
      if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) throw invalidField('url', 'must be an absolute URL');
      try {
        await permittedAddresses(parseUrl(url));
      } catch (error) {
        if (!(error instanceof DestinationRefused)) throw error;
        throw new ApiError('webhook_url_refused', { reason: error.reason });
      }
    },
  };
}

function parseUrl(url: string): URL {
  if (!URL.canParse(url)) throw new DestinationRefused('address');
  const parsed = new URL(url);
  if (parsed.username !== '' || parsed.password !== '') throw new DestinationRefused('address');
  return parsed;
}

const defaultPort = (protocol: string) => (protocol === 'https:' ? 443 : 80);
const portOf = ({ port, protocol }: URL) => (port === '' ? defaultPort(protocol) : Number(port));
