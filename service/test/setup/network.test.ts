import dgram from 'node:dgram';
import { lookup, resolve4 } from 'node:dns/promises';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { isLoopback } from './network.ts';

// The tests use addresses for documentation (RFC 5737, RFC 3849), which are unreachable: if connections were not
// blocked, the tests would time out.
const BLOCKED = /Tests must not reach/;

test.each([
  ['options', () => net.connect({ host: '192.0.2.1', port: 80 })],
  ['port and host', () => net.connect(80, '192.0.2.1')],
  ['a socket of its own', () => new net.Socket().connect(80, '2001:db8::1')],
  ['a name', () => net.connect(443, 'example.com')],
  ['TLS', () => tls.connect({ host: '192.0.2.1', port: 443 })],
])('blocks an external TCP connection given as %s', async (_way, open) => {
  const error = await new Promise<Error>((resolve, reject) => {
    open().once('error', resolve).once('connect', reject);
  });
  expect(error.message).toMatch(BLOCKED);
});

test('blocks external fetch and http requests', async () => {
  const failure = await fetch('http://192.0.2.1/').catch((error: Error) => error);
  expect((failure as Error).cause).toMatchObject({ message: expect.stringMatching(BLOCKED) });
  const error = await new Promise<Error>((resolve) => http.get('http://192.0.2.1/').once('error', resolve));
  expect(error.message).toMatch(BLOCKED);
});

test('blocks DNS queries for external names', async () => {
  await expect(lookup('example.com')).rejects.toThrow(BLOCKED);
  await expect(resolve4('example.com')).rejects.toThrow(BLOCKED);
});

test('blocks external datagrams', () => {
  const socket = dgram.createSocket('udp4');
  expect(() => socket.send('x', 53, '192.0.2.1')).toThrow(BLOCKED);
  socket.close();
});

test('allows loopback by address and by name', async () => {
  const server = http.createServer((_request, response) => response.end('here'));
  await promisify((done: () => void) => server.listen(0, '127.0.0.1', done))();
  const { port } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost'])
    expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe('here');
  await promisify(server.close.bind(server))();
});

test.each(['127.0.0.1', '127.9.9.9', '::1', '[::1]', '::ffff:127.0.0.1', 'LOCALHOST', 'a.localhost'])(
  'treats %s as loopback',
  (host) => expect(isLoopback(host)).toBe(true),
);

test.each(['127.0.0.1.example.com', 'localhost.example.com', '0.0.0.0', '128.0.0.1', '::2', ''])(
  'treats %j as external',
  (host) => expect(isLoopback(host)).toBe(false),
);
