import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

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
  process.send?.({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token/introspection`,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token, ...client }).toString(),
  });
});
