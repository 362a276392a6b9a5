import dgram from 'node:dgram';
import { lookup, resolve4 } from 'node:dns/promises';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { isLoopback } from './network.ts';

// Addresses of RFC 5737 and RFC 3849 belong to nobody: without the refusal these tests would time out or differ.
const refused = /Tests may not reach/;

test.each([
  ['options', () => net.connect({ host: '192.0.2.1', port: 80 })],
  ['port and host', () => net.connect(80, '192.0.2.1')],
  ['a socket of its own', () => new net.Socket().connect(80, '2001:db8::1')],
  ['a name', () => net.connect(443, 'example.com')],
  ['TLS', () => tls.connect({ host: '192.0.2.1', port: 443 })],
])('refuses a TCP connection outside given as %s', async (_way, open) => {
  const error = await new Promise<Error>((resolve, reject) => {
    open().once('error', resolve).once('connect', reject);
  });
  expect(error.message).toMatch(refused);
});

test('refuses fetch and http requests outside', async () => {
  const failure = await fetch('http://192.0.2.1/').catch((error: Error) => error);
  expect((failure as Error).cause).toMatchObject({ message: expect.stringMatching(refused) });
  const error = await new Promise<Error>((resolve) => http.get('http://192.0.2.1/').once('error', resolve));
  expect(error.message).toMatch(refused);
});

test('refuses to ask for names outside', async () => {
  await expect(lookup('example.com')).rejects.toThrow(refused);
  await expect(resolve4('example.com')).rejects.toThrow(refused);
});

test('refuses datagrams outside', () => {
  const socket = dgram.createSocket('udp4');
  expect(() => socket.send('x', 53, '192.0.2.1')).toThrow(refused);
  socket.close();
});

test('lets loopback through, by address and by name', async () => {
  const server = http.createServer((_request, response) => response.end('here'));
  await promisify((done: () => void) => server.listen(0, '127.0.0.1', done))();
  const { port } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost'])
    expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe('here');
  await promisify(server.close.bind(server))();
});

test.each(['127.0.0.1', '127.9.9.9', '::1', '[::1]', '::ffff:127.0.0.1', 'LOCALHOST', 'a.localhost'])(
  'takes %s for loopback',
  (host) => expect(isLoopback(host)).toBe(true),
);

test.each(['127.0.0.1.example.com', 'localhost.example.com', '0.0.0.0', '128.0.0.1', '::2', ''])(
  'takes %j for outside',
  (host) => expect(isLoopback(host)).toBe(false),
);
