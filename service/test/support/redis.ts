import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Implements the part of the Redis protocol that the rate limiter uses. */
export async function startRedis(port = 0) {
  const values = new Map<string, { count: number; end: number }>();
  const sockets = new Set<Socket>();
  let isSilent = false;
  const find = (key: string) => {
    const value = values.get(key);
    return value !== undefined && value.end > performance.now() ? value : undefined;
  };
  const run = ([name = '', key = '', ...rest]: string[]): string => {
    const options = rest.map((each) => each.toUpperCase());
    switch (name.toUpperCase()) {
      case 'SET': {
        if (options.includes('NX') && find(key) !== undefined) return '$-1\r\n';
        const ttl = Number(rest[options.indexOf('PX') + 1]);
        values.set(key, { count: Number(rest[0]), end: performance.now() + ttl });
        return '+OK\r\n';
      }
      case 'INCR': {
        const value = find(key);
        if (value === undefined) return '-ERR the window is missing\r\n';
        value.count++;
        return `:${value.count}\r\n`;
      }
      case 'PTTL':
        return `:${Math.round((find(key)?.end ?? 0) - performance.now())}\r\n`;
      case 'HELLO':
        return '%1\r\n$5\r\nproto\r\n:3\r\n';
      default:
        return '+OK\r\n';
    }
  };
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    let queued: string[] | null = null;
    const answer = (command: string[]): string => {
      const name = command[0]?.toUpperCase();
      if (name === 'MULTI') {
        queued = [];
        return '+OK\r\n';
      }
      if (name === 'EXEC' && queued !== null) {
        const replies = queued;
        queued = null;
        return `*${replies.length}\r\n${replies.join('')}`;
      }
      if (queued === null) return run(command);
      queued.push(run(command));
      return '+QUEUED\r\n';
    };
    let rest = '';
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        rest += chunk.toString('latin1');
        for (let found = readCommand(rest); found !== null; found = readCommand(rest)) {
          rest = found.rest;
          const reply = answer(found.command);
          if (!isSilent) socket.write(reply);
        }
      });
  };
  const server = createServer(serve).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    url: `redis://127.0.0.1:${address.port}`,
    setSilent: (silent: boolean) => {
      isSilent = silent;
    },
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** Reads one array of bulk strings. Returns null if it is incomplete. */
function readCommand(text: string): { command: string[]; rest: string } | null {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return null;
  let at = head[0].length;
  const command: string[] = [];
  for (let i = 0; i < Number(head[1]); i++) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at));
    if (size === null) return null;
    const start = at + size[0].length;
    at = start + Number(size[1]) + 2;
    if (text.length < at) return null;
    command.push(text.slice(start, at - 2));
  }
  return { command, rest: text.slice(at) };
}
