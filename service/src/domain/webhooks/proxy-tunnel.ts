import { request } from 'node:http';
import type { Socket } from 'node:net';

/** Opens a connection to an address through an HTTP proxy. */
export type OpenTunnel = (address: string, port: string, signal: AbortSignal) => Promise<Socket>;

/**
 * Returns a function that opens tunnels through the proxy with CONNECT (RFC 9110, section 9.3.6). The function rejects
 * if the proxy refuses.
 */
export function createTunnels(proxyUrl: string): OpenTunnel {
  const { hostname, port, username, password } = new URL(proxyUrl);
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return (address, targetPort, signal) =>
    new Promise((resolve, reject) => {
      const authority = `${address.includes(':') ? `[${address}]` : address}:${targetPort}`;
      const connecting = request({
        ...{ method: 'CONNECT', host: hostname.replace(/^\[|\]$/g, ''), port: port || 80, path: authority },
        ...{ agent: false, signal },
        headers: {
          host: authority,
          ...(username !== '' && {
            'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}`,
          }),
        },
      });
      connecting.on('connect', ({ statusCode }, socket) => {
        if (statusCode === 200) return resolve(socket);
        socket.destroy();
        reject(new Error(`the webhook proxy answered CONNECT with ${statusCode}`));
      });
      // Wraps the error to hide its code, such as ECONNREFUSED. Otherwise, the delivery log would blame the receiver
      // instead of the proxy.
      connecting.on('error', (cause) => reject(new Error('the webhook proxy failed', { cause })));
      connecting.end();
    });
}
