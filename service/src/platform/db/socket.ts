import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';

/** Holds what a socket has just read. All sockets share it, because it is copied before anything else is read. */
const received = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Returns an unconnected socket for `pg`. Node allocates 64 KB for every read of an ordinary socket, however little
 * arrives. This socket allocates only as much as has arrived.
 */
export function createSocket({ ssl }: { ssl?: unknown }): Socket {
  // TLS reads by itself and would not use the buffer.
  if (ssl) return new Socket();
  const onread: OnReadOpts = {
    buffer: received,
    callback: (length) => {
      socket.emit('data', Buffer.from(received.subarray(0, length)));
      return true;
    },
  };
  // The type declaration of the options leaves `onread` out.
  const socket = new Socket({ onread } as SocketConstructorOpts);
  return socket;
}
