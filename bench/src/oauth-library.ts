import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { Target } from './target.ts';

/**
 * This process serves token introspection with unmodified `oidc-provider`, its in-memory store and one opaque access
 * token.
 */
const client = { client_id: 'bench', client_secret: 'a sufficiently long benchmark secret' };
const provider = new Provider('http://127.0.0.1', {
  clients: [{ ...client, redirect_uris: [], response_types: [], grant_types: ['client_credentials'] }],
  scopes: ['offers:read'],
  features: {
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: async () => true },
    devInteractions: { enabled: false },
  },
  ttl: { ClientCredentials: 3600 },
});
const registered = await provider.Client.find(client.client_id);
if (registered === undefined) throw new Error('client not found');
const token = await new provider.ClientCredentials({ client: registered, scope: 'offers:read' }).save();
const server = provider.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const target: Target = {
    url: `http://127.0.0.1:${port}/token/introspection`,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token, ...client }).toString(),
  };
  process.send?.(target);
});
