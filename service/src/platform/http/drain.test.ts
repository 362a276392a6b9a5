import { once } from 'node:events';
import { type AddressInfo, connect, Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import fastify from 'fastify';
import { expect, test, vi } from 'vitest';
import { prepareDrain } from './drain.ts';

// Runs the clients in a separate thread, so that they connect while the server is busy. Like a proxy without health
// checks, each `client` opens a new connection for each request until the server refuses connections. `others` opens
// connections at regular intervals, without waiting for replies.
const CLIENTS = `
const { workerData, parentPort } = require('node:worker_threads');
const net = require('node:net');
const send = () => new Promise((resolve) => {
  let reply = '';
  let isConnected = false;
  const socket = net.connect(workerData, '127.0.0.1', () => {
    isConnected = true;
    socket.write('POST / HTTP/1.1\\r\\nhost: a\\r\\nconnection: close\\r\\ncontent-length: 0\\r\\n\\r\\n');
  });
  socket.on('data', (data) => { reply += data; });
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(reply.startsWith('HTTP/1.1 200') ? 'answered' : isConnected ? 'lost' : 'refused'));
});
const counts = { answered: 0, lost: 0, refused: 0 };
const client = async () => {
  for (;;) {
    const result = await send();
    counts[result]++;
    if (result === 'refused') return;
  }
};
const others = async () => {
  const sent = [];
  while (counts.refused === 0) {
    sent.push(send().then((result) => counts[result]++));
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
  await Promise.all(sent);
};
Promise.all([...Array.from({ length: 8 }, client), others()]).then(() => parentPort.postMessage(counts));
`;

function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test('a busy server that drains loses no connection, even if it gets no processor time before it stops listening', async () => {
  const { close } = Server.prototype;
  vi.spyOn(Server.prototype, 'close').mockImplementation(function (this: Server, ...args) {
    block(30);
    return close.apply(this, args);
  });
  const app = fastify({ return503OnClosing: false });
  app.post('/', () => {
    block(1);
    return 'done';
  });
  const drain = prepareDrain(app, () => undefined);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const clients = new Worker(CLIENTS, { eval: true, workerData: (app.server.address() as AddressInfo).port });
  const counts = once(clients, 'message');
  await sleep(50);
  await drain();
  const [{ answered, lost }] = await counts;
  expect([answered > 10, lost]).toEqual([true, 0]);
});

test('a request that is slow when its server drains is answered', async () => {
  const app = fastify({ return503OnClosing: false });
  app.post('/', async () => {
    await sleep(3_000);
    return 'done';
  });
  const drain = prepareDrain(app, () => undefined);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const reply = fetch(url, { method: 'POST' });
  await sleep(20);
  await drain();
  expect(await (await reply).text()).toBe('done');
});

test('a request is answered even if its client sends it long after it connected', async () => {
  const app = fastify({ return503OnClosing: false });
  app.post('/', () => 'done');
  const drain = prepareDrain(app, () => undefined);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const draining = drain();
  await sleep(500);
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  await sleep(1_500);
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n');
  const [reply] = await once(socket.setEncoding('latin1'), 'data');
  expect(reply).toMatch(/^HTTP\/1.1 200/);
  await draining;
});
