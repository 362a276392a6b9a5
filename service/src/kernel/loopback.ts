import ipaddr from 'ipaddr.js';

/** Returns whether a host is this machine: `localhost` or a loopback address, with or without the brackets of a URL. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*:.*)\]$/, '$1');
  if (ipaddr.isValid(address)) return ipaddr.process(address).range() === 'loopback';
  return host.toLowerCase() === 'localhost';
}
