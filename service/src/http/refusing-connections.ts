import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { readWholeRequest, type WholeRequest } from './whole-request.ts';

type Connection = {
  /** Whether the parser has read all bytes of the last request and none of the next one. */
  isBetweenRequests: boolean;
  /** The request that the parser is about to read, if its chunk contains exactly one. */
  expected: WholeRequest | null;
  /** The response to the last request that the parser read. */
  response: ServerResponse;
};

export type RefusingConnections = {
  /** Call it for every request that the parser reads, before anything else. */
  noticeRequest(request: IncomingMessage, response: ServerResponse): void;
  /** Call it for every request that is refused after it was parsed. */
  noticeRefusal(request: IncomingMessage, response: ServerResponse): void;
};

/**
 * Refuses further requests of connections that had one refused, before Node parses them, which costs more than half of a
 * refusal. `refuse` returns the text of the reply, or null if the request must be parsed and handled.
 *
 * A chunk is answered here only if it is exactly one request, the parser is between two requests, and every earlier
 * reply has been sent. Otherwise bytes of one request could be taken for another one, or replies could be swapped
 * (request smuggling). All other chunks go to the parser, unchanged and in order. Connections that never had a request
 * refused are not touched, so a node that is not saturated pays nothing.
 */
export function watchRefusals(refuse: (request: WholeRequest) => string | null): RefusingConnections {
  const connections = new WeakMap<Socket, Connection>();
  const watch = (socket: Socket, response: ServerResponse) => {
    const [parse] = socket.listeners('data');
    if (parse === undefined || connections.has(socket)) return;
    const connection: Connection = { isBetweenRequests: false, expected: null, response };
    connections.set(socket, connection);
    socket.removeListener('data', parse as (chunk: Buffer) => void);
    socket.on('data', (chunk: Buffer) => {
      // The parser may already serve another connection.
      if (!socket.writable) return;
      const request = readWholeRequest(chunk);
      // A client that sends but does not read must not fill our memory with replies.
      const hasSentAll = connection.response.writableFinished && socket.writableLength === 0;
      const reply = request !== null && connection.isBetweenRequests && hasSentAll ? refuse(request) : null;
      if (reply !== null) {
        socket.write(reply, 'latin1');
        return;
      }
      connection.expected = request;
      connection.isBetweenRequests = false;
      parse.call(socket, chunk);
    });
  };
  return {
    noticeRequest: (request, response) => {
      const connection = connections.get(request.socket);
      if (connection === undefined) return;
      const { expected } = connection;
      connection.response = response;
      connection.expected = null;
      connection.isBetweenRequests = expected !== null && isSame(request, expected);
    },
    noticeRefusal: ({ socket }, response) => {
      if (!connections.has(socket)) response.once('close', () => watch(socket, response));
    },
  };
}

/**
 * Returns whether the parser read exactly this request. If it had been inside another request, that request would have
 * another method or at least one more or one less header.
 */
function isSame({ method, url, rawHeaders }: IncomingMessage, expected: WholeRequest): boolean {
  return (
    method === expected.method && url === expected.url && rawHeaders.length === 2 * expected.headers.size
  );
}
