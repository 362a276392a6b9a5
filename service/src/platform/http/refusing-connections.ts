import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { readWholeRequest, type WholeRequest } from './whole-request.ts';

type Connection = {
  /** The last request that the parser read. Null unless this request arrived alone, as one whole chunk. */
  last: IncomingMessage | null;
  /** The request in the chunk that the parser is about to read. Null unless the chunk is exactly one request. */
  expected: WholeRequest | null;
  /** The response to the last request that the parser read. */
  response: ServerResponse;
};

export type RefusingConnections = {
  /** Must be called for every request that the parser reads, before anything else. */
  noticeRequest(request: IncomingMessage, response: ServerResponse): void;
  /** Must be called for every request that is refused after it was parsed. */
  noticeRefusal(request: IncomingMessage, response: ServerResponse): void;
};

/**
 * Refuses requests before Node parses them, because parsing is more than half of the cost of a refusal. Refuses
 * requests this early only on connections on which a request has already been refused, and does not touch other
 * connections. `refuse` returns the text of the reply, or null if the request must be parsed and handled.
 *
 * A chunk is answered here only if it is exactly one request, the parser is between two requests, and every earlier
 * reply has been sent. Otherwise the bytes of one request could be mistaken for another request, or replies could be
 * swapped (request smuggling). All other chunks go to the parser, unchanged and in order.
 */
export function watchRefusals(refuse: (request: WholeRequest) => string | null): RefusingConnections {
  const connections = new WeakMap<Socket, Connection>();
  const watch = (socket: Socket, response: ServerResponse) => {
    const [parse] = socket.listeners('data');
    if (parse === undefined || connections.has(socket)) return;
    const connection: Connection = { last: null, expected: null, response };
    connections.set(socket, connection);
    socket.removeListener('data', parse as (chunk: Buffer) => void);
    socket.on('data', (chunk: Buffer) => {
      // Once the socket is closed, Node may already use the socket's parser for another connection.
      if (!socket.writable) return;
      const request = readWholeRequest(chunk);
      // A client that sends but does not read must not fill our memory with replies.
      const hasSentAll = connection.response.writableFinished && socket.writableLength === 0;
      const isBetweenRequests = connection.last?.complete === true;
      const reply = request !== null && isBetweenRequests && hasSentAll ? refuse(request) : null;
      if (reply !== null) {
        socket.write(reply, 'latin1');
        return;
      }
      connection.expected = request;
      connection.last = null;
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
      connection.last = expected !== null && isSame(request, expected) ? request : null;
    },
    noticeRefusal: ({ socket }, response) => {
      if (!connections.has(socket)) response.once('close', () => watch(socket, response));
    },
  };
}

/**
 * Returns whether the parser has read exactly the expected request. If the parser was still inside an earlier request
 * when the chunk arrived, the parser has read a different request, which starts later in the chunk. There are two
 * cases:
 * - The different request starts before the body of the expected request. Then its method or its number of headers
 *   differs.
 * - The different request starts inside that body. Then it passes this check only if it has the same content length as
 *   the expected request. In that case, the body of the different request does not fit into the chunk, so the parser
 *   waits for more data, and the next chunk goes to the parser too.
 */
function isSame({ method, url, headers, rawHeaders }: IncomingMessage, expected: WholeRequest): boolean {
  return (
    method === expected.method &&
    url === expected.url &&
    rawHeaders.length === 2 * expected.headers.size &&
    headers['content-length'] === expected.headers.get('content-length')
  );
}
