import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const MAX_CHECK_INTERVAL_MS = 1_000;

/**
 * Closes a connection if the client stops reading, because data that the operating system cannot buffer stays in our
 * memory. Ignores clients that are slow to send, because Node itself limits those. Checks the connections at intervals,
 * because listeners on every reply would cost more than most handlers.
 */
export function closeSlowReaders(server: Server, timeoutMs: number): void {
  /**
   * For each connection with buffered data: how many bytes have left our buffer (`read`), and when that number last
   * changed (`since`).
   */
  const stalled = new Map<Socket, { read: number; since: number }>();
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      stalled.delete(socket);
    });
  });
  const timer = setInterval(
    () => {
      const now = performance.now();
      for (const socket of sockets) {
        const read = socket.bytesWritten - socket.writableLength;
        const known = stalled.get(socket);
        if (socket.writableLength === 0) stalled.delete(socket);
        else if (known?.read !== read) stalled.set(socket, { read, since: now });
        else if (now - known.since >= timeoutMs) socket.resetAndDestroy();
      }
    },
    Math.min(MAX_CHECK_INTERVAL_MS, timeoutMs / 4),
  );
  timer.unref();
  server.once('close', () => clearInterval(timer));
}
