import { isIP } from 'node:net';

/**
 * Returns the name of the provider that runs an RPC endpoint: the `#provider=NAME` of the URL, or else its registrable
 * domain. Endpoints with the same name count as one source. The last two labels of the host are taken as the
 * registrable domain, so all hosts below a public suffix such as `co.uk` count as one source, unless their URLs name
 * the providers.
 */
export function providerName(url: string): string {
  const { hostname, hash } = new URL(url);
  const declared = new URLSearchParams(hash.slice(1)).get('provider');
  if (declared !== null && declared !== '') return declared;
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return hostname;
  return hostname.split('.').slice(-2).join('.');
}
