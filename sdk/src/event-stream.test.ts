import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createCauseway } from './client.ts';
import type { CausewayOptions } from './request.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let baseUrl: string;
/** One reply per stream connection. Later connections get the last reply again. */
let answers: Answer[];
/** The reply from the list endpoint, newest event first. */
let listed: string[];
/** How many requests to the list endpoint fail before one succeeds. */
let failedLists: number;
let opened: { last: string | undefined; token: string | undefined }[];

beforeAll(async () => {
  server = createServer((request, response) => {
    if (!request.url?.startsWith('/v1/events/stream')) {
      if (failedLists-- > 0) return fail(503, 'unavailable')(request, response);
      const data = listed.map((id) => ({ object: 'event', id }));
      return void response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ object: 'list', data }));
    }
    opened.push({
      last: request.headers['last-event-id'] as string | undefined,
      token: request.headers.authorization,
    });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  listed = ['e0'];
  failedLists = 0;
  opened = [];
});

const frame = (id: string) => `id: ${id}\ndata: {"object":"event","id":"${id}","note":"ü"}\n\n`;
const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
/** Sends text and leaves the connection open. */
const send =
  (text: string): Answer =>
  (_request, response) =>
    void begin(response).write(text);
const sendAndEnd =
  (text: string): Answer =>
  (_request, response) =>
    void begin(response).end(text);
const breakOff =
  (text: string): Answer =>
  (request, response) => {
    begin(response).write(text, () => setTimeout(() => request.socket.destroy(), 20));
  };
const fail =
  (status: number, code: string): Answer =>
  (_request, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ type: 'api_error', code, message: code, errors: {}, event_id: 'x' }));

/** Reads `count` events and ends the stream. */
async function read(
  count: number,
  options: Partial<CausewayOptions> = {},
  after?: string,
): Promise<string[]> {
  const client = createCauseway({ baseUrl, accessToken: 't', ...options });
  const stop = new AbortController();
  const ids: string[] = [];
  for await (const event of client.events.stream({ after, signal: stop.signal })) {
    ids.push(event.id);
    if (ids.length === count) stop.abort();
  }
  return ids;
}

test('resumes after the last event when the connection breaks or the service ends it', async () => {
  answers = [
    breakOff(`retry: 2000\n\n${frame('e1')}${frame('e2')}`),
    sendAndEnd(`: heartbeat\n\n${frame('e3')}event: end\ndata: {"reason":"shutting_down"}\n\n`),
    send(`event: caught_up\ndata: {}\n\n${frame('e4')}`),
  ];
  expect(await read(4)).toEqual(['e1', 'e2', 'e3', 'e4']);
  expect(opened.map(({ last }) => last)).toEqual(['e0', 'e2', 'e3']);
});

test('starts after the given event without asking for the newest one', async () => {
  answers = [send(frame('e8'))];
  expect(await read(1, {}, 'e7')).toEqual(['e8']);
  expect(opened[0]?.last).toBe('e7');
});

test('reads frames however they are cut, and lines that end with a carriage return', async () => {
  const bytes = Buffer.from(`${frame('e1')}${frame('e2')}`.replaceAll('\n', '\r\n'));
  answers = [
    async (_request, response) => {
      begin(response);
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  ];
  expect(await read(2)).toEqual(['e1', 'e2']);
});

test('misses no event if the log was empty at first', async () => {
  listed = [];
  answers = [
    breakOff('retry: 2000\n\n'),
    (_request, response) => {
      listed = ['e2', 'e1'];
      begin(response).write(`${frame('e2')}${frame('e3')}`);
    },
  ];
  expect(await read(3)).toEqual(['e1', 'e2', 'e3']);
});

test('gets a new token when the service rejects the old one or ends its stream', async () => {
  let issued = 0;
  const accessToken = ({ refresh }: { refresh: boolean }) => `t${refresh ? ++issued : issued}`;
  answers = [
    sendAndEnd(`${frame('e1')}event: end\ndata: {"reason":"token_expired"}\n\n`),
    breakOff(frame('e2')),
    fail(401, 'unauthorized'),
    send(frame('e3')),
  ];
  expect(await read(3, { accessToken })).toEqual(['e1', 'e2', 'e3']);
  expect(opened.map(({ token }) => token)).toEqual(['Bearer t0', 'Bearer t1', 'Bearer t1', 'Bearer t2']);
});

test.each([
  [410, 'events_expired'],
  [403, 'insufficient_scope'],
  [401, 'unauthorized'],
])('throws %s %s, which reconnecting cannot fix', async (status, code) => {
  answers = [fail(status, code)];
  await expect(read(1)).rejects.toMatchObject({ code });
});

test('tries again after 429 and 503', async () => {
  answers = [fail(429, 'rate_limited'), fail(503, 'unavailable'), send(frame('e1'))];
  expect(await read(1)).toEqual(['e1']);
});

test('tries again if the service is unavailable when the stream is opened', async () => {
  failedLists = 2;
  answers = [send(frame('e1'))];
  expect(await read(1, { retries: 0 })).toEqual(['e1']);
  expect(opened.map(({ last }) => last)).toEqual(['e0']);
});
