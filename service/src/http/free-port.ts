import { type AddressInfo, createServer } from 'node:net';

/**
 * Finds a free port. The server's address must be known before the server is built, because it appears in
 * tokens and in the discovery documents.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(0, host, resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
