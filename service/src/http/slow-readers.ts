import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const MAX_CHECK_INTERVAL_MS = 1_000;

/**
 * Closes connections whose client does not read: what the operating system cannot buffer stays in our memory. Node limits
 * slow requests itself. Connections are sampled, because listeners on every reply would cost more than most handlers.
 */
export function closeSlowReaders(server: Server, timeoutMs: number): void {
  /** When the oldest unread bytes of each connection were first seen. */
  const unreadSince = new Map<Socket, number>();
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      unreadSince.delete(socket);
    });
  });
  const timer = setInterval(
    () => {
      const now = performance.now();
      for (const socket of sockets) {
        if (socket.writableLength === 0) unreadSince.delete(socket);
        else if (!unreadSince.has(socket)) unreadSince.set(socket, now);
        else if (now - Number(unreadSince.get(socket)) >= timeoutMs) socket.resetAndDestroy();
      }
    },
    Math.min(MAX_CHECK_INTERVAL_MS, timeoutMs / 4),
  );
  timer.unref();
  server.once('close', () => clearInterval(timer));
}
