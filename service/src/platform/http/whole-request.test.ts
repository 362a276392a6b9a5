import { createServer, type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readWholeRequest } from './whole-request.ts';

const SENTINEL = 'GET /sentinel HTTP/1.1\r\nhost: x\r\n\r\n';

/** Returns what Node's parser reads if another request follows the chunk. */
async function parse(
  chunk: Buffer,
): Promise<{ requests: IncomingMessage[]; bodies: string[]; error?: Error }> {
  const requests: IncomingMessage[] = [];
  const bodies: string[] = [];
  let failure: Error | undefined;
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const at = requests.push(request) - 1;
    bodies[at] = '';
    request.on('data', (data) => (bodies[at] += data.toString('latin1')));
    response.end();
  }).on('clientError', (error) => (failure = error));
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  server.emit('connection', socket);
  socket.push(chunk);
  await nextTurn();
  socket.push(SENTINEL);
  await nextTurn();
  await nextTurn();
  socket.destroy();
  return { requests, bodies, ...(failure !== undefined && { error: failure }) };
}

const often = <T>(usual: T, ...rare: T[]) =>
  fc.oneof({ weight: 20, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });
const end = often('\r\n', '\n', '\r', '\r\n\r\n', '\r\n ', '');
const header = fc.constantFrom(
  ...['host: x', 'x-a: b', 'x-b:', 'x-c:\tc ', 'connection: keep-alive', 'content-length: 0'],
  ...[
    'Content-Length: 4',
    'content-length: 40',
    'content-length: +4',
    'content-length: 4, 4',
    'content-length:4',
  ],
  ...['transfer-encoding: chunked', 'Transfer-Encoding:chunked', 'x-d: \u0000', 'x-e : 1', ' x-f: 1', 'x-g'],
  ...['connection: close', 'upgrade: h2c', 'expect: 100-continue', 'x-h: é', ': x', 'content-length :4'],
);
const body = fc.constantFrom('', '', '1234', '4\r\nabcd\r\n0\r\n\r\n', SENTINEL, '0\r\n\r\n', '\r\n');
const chunk = fc
  .record({
    before: often('', '\r\n', ' ', 'PROP'),
    method: often('GET', 'POST', 'PATCH', 'DELETE', 'HEAD', 'CONNECT', 'get'),
    url: often('/v1/offers', '/', '*', 'http://x/', '/a b', '/\u0000', '/é'),
    version: often('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 '),
    lines: fc.array(fc.tuple(header, end), { maxLength: 4 }),
    ...{ firstEnd: end, lastEnd: end, body },
  })
  .map(({ before, method, url, version, firstEnd, lines, lastEnd, body }) =>
    Buffer.from(
      `${before}${method} ${url} ${version}${firstEnd}${lines.flat().join('')}${lastEnd}${body}`,
      'latin1',
    ),
  );

test("every chunk that counts as a whole request is exactly one request for Node's parser", async () => {
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(chunk, async (bytes) => {
      const read = readWholeRequest(bytes);
      if (read === null) return;
      whole++;
      const { requests, bodies, error } = await parse(bytes);
      expect(error).toBeUndefined();
      expect(requests.map(({ url }) => url)).toEqual([read.url, '/sentinel']);
      const [first] = requests;
      expect([first?.method, first?.rawHeaders.length, first?.complete]).toEqual([
        read.method,
        2 * read.headers.size,
        true,
      ]);
      expect(bodies[0]?.length).toBe(Number(read.headers.get('content-length') ?? 0));
      for (const [name, value] of read.headers)
        if (name !== 'host') expect(String(first?.headers[name] ?? '').trim()).toBe(value);
    }),
    { numRuns: 10_000 },
  );
  // The generator must produce enough whole requests, or the test proves nothing.
  expect(whole).toBeGreaterThan(80);
});

test.each<[string, boolean]>([
  ['GET /v1/offers HTTP/1.1\r\nhost: x\r\n\r\n', true],
  ['POST /oauth/token HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}', true],
  ['GET /v1/offers HTTP/1.1\r\nhost: x\r\nconnection: Keep-Alive\r\n\r\n', true],
  ['GET /v1/offers HTTP/1.1\r\nhost: x\r\n', false],
  ['GET /v1/offers HTTP/1.1\r\nhost: x\r\n\r\nGET', false],
  ['POST /oauth/token HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{', false],
  ['POST /oauth/token HTTP/1.1\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}', false],
  ['POST /oauth/token HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n', false],
  ['GET /v1/offers HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', false],
  ['HEAD /v1/offers HTTP/1.1\r\nhost: x\r\n\r\n', false],
])('%j counts as a whole request: %s', (text, isWhole) => {
  expect(readWholeRequest(Buffer.from(text, 'latin1')) !== null).toBe(isWhole);
});

test('a chunk that is larger than the headers may be is left to the parser', () => {
  const text = `GET /v1/offers HTTP/1.1\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`;
  expect(readWholeRequest(Buffer.from(text))).toBeNull();
});
