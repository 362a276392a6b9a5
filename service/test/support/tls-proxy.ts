import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { LOCALHOST } from './certificates.ts';

/** Terminates TLS on https://localhost and forwards the decrypted bytes to `target`. */
export async function startTlsProxy(target: string): Promise<{ port: number; stop(): Promise<void> }> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    return socket;
  };
  const server = createServer(LOCALHOST, (secure) => {
    const plain = keep(connect(Number(port), hostname));
    keep(secure).pipe(plain).pipe(secure);
    plain.on('close', () => secure.destroy());
    secure.on('close', () => plain.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
