import ipaddr from 'ipaddr.js';

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

/** Decides which addresses webhooks may be sent to. */
export type AddressRules = {
  /** Returns whether the address is in a network that the operator has allowed. */
  isAllowedNetwork(address: string): boolean;
  /** Returns whether the address is public or in an allowed network. */
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

/**
 * Returns whether webhooks may use the port: 443, or an unprivileged port that no common internal service
 * uses.
 */
export function isPermittedPort(port: number): boolean {
  return port === 443 || (port >= LOWEST_UNPRIVILEGED_PORT && !DENIED_PORTS.has(port));
}

/** Returns whether the host of a URL is an IP address, which needs no DNS lookup. */
export function isAddress(host: string): boolean {
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
