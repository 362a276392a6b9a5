import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import fastify from 'fastify';
import { expect, test } from 'vitest';
import { prepareDrain } from './drain.ts';

// Runs the clients in a separate thread, so that they connect while the server is busy. Like a proxy without health
// checks, each client opens a new connection for each request until the server refuses connections.
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
Promise.all(Array.from({ length: 8 }, client)).then(() => parentPort.postMessage(counts));
`;

test('a busy server that drains loses no connection that it accepted', async () => {
  const app = fastify({ return503OnClosing: false });
  app.post('/', () => {
    const end = performance.now() + 3;
    while (performance.now() < end);
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
