import { isIP } from 'node:net';

/**
 * Returns the name of the provider that runs an RPC endpoint. Endpoints with the same name count as one source. The
 * name comes from `#provider=NAME` in the URL. Without this fragment, the name is the IP address or the last two labels
 * of the host name. All hosts under a public suffix such as `co.uk` therefore count as one source.
 */
export function providerName(url: string): string {
  const { hostname, hash } = new URL(url);
  const declared = new URLSearchParams(hash.slice(1)).get('provider');
  if (declared !== null && declared !== '') return declared;
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return hostname;
  return hostname.split('.').slice(-2).join('.');
}
