import { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { ApiError, invalidField } from '../../kernel/errors.ts';
import { isLoopback } from '../../kernel/loopback.ts';

type RefusalReason = 'not_https' | 'address' | 'port' | 'own_address' | 'unresolvable';

export class DestinationRefused extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(`webhook destination refused: ${reason}`);
    this.name = 'DestinationRefused';
    this.reason = reason;
  }
}

type Destination = { protocol: string; hostname: string; port: string };

export type UrlRules = {
  /** Throws `webhook_url_refused` if webhooks cannot be sent to the URL. */
  check(url: string): Promise<void>;
  /** Returns the addresses to connect to. Throws `DestinationRefused` if any address of the host breaks the rules. */
  permittedAddresses(destination: Destination): Promise<string[]>;
};

/**
 * The rules apply when a URL is saved and each time a connection is opened, because a host name can resolve to
 * another address later.
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

export type Resolve = (host: string) => Promise<string[]>;

const TIMEOUT_MS = 1_500;
const TRIES = 2;

/**
 * Node's `Resolver` (c-ares), not `dns.lookup`, which would block a thread of Node's small shared pool: a few slow
 * name servers could stall the whole process.
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

type Address = ReturnType<typeof ipaddr.process>;

/** Addresses of cloud metadata services that are not in a private range. */
const DENIED_ADDRESSES = new Set(['168.63.129.16']);
/** The global unicast range. All other IPv6 addresses are local, reserved or used for tunnels. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');
const LOWEST_UNPRIVILEGED_PORT = 1024;
/** Ports of common internal services, such as databases, caches and control planes. */
const DENIED_PORTS = new Set([
  1433, 1521, 2049, 2375, 2376, 2379, 3306, 3389, 5432, 5672, 5900, 6000, 6379, 6443, 6667, 8500, 9042, 9092,
  9200, 9300, 10250, 11211, 27017,
]);

type AddressRules = {
  isAllowedNetwork(address: string): boolean;
  isPermitted(address: string): boolean;
};

export function createAddressRules(allowCidrs: readonly string[]): AddressRules {
  const networks = allowCidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  const isAllowedNetwork = (text: string) => {
    const address = parse(text);
    return address !== null && networks.some((network) => isInside(address, network));
  };
  return {
    isAllowedNetwork,
    isPermitted: (text) => {
      const address = parse(text);
      return address !== null && (isPublic(address) || isAllowedNetwork(text));
    },
  };
}

/** 443, or an unprivileged port that no common internal service uses. */
function isPermittedPort(port: number): boolean {
  return port === 443 || (port >= LOWEST_UNPRIVILEGED_PORT && !DENIED_PORTS.has(port));
}

/** Returns whether the host of a URL is an IP address, which needs no DNS lookup. */
function isAddress(host: string): boolean {
  return parse(host) !== null;
}

/** Parses an address. An IPv4-mapped IPv6 address becomes IPv4. */
function parse(text: string): Address | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null;
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || DENIED_ADDRESSES.has(address.toString())) return false;
  return address.kind() === 'ipv4' || isInside(address, GLOBAL_IPV6);
}

function isInside(address: Address, [network, bits]: [Address, number]): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}
