import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * How many streams to open at a time. While a stream is opening, it counts as one of the partner's concurrent requests,
 * so this number must be below the default `PARTNER_CONCURRENCY` (100).
 */
const OPENING = 50;

/**
 * This process opens `count` event streams, ten per token. Once every stream has received data, the process sends a URL
 * to its parent. Each request to that URL returns the delays of the events that have arrived since the previous
 * request. A delay is the time in milliseconds from an event's creation to its arrival at a stream.
 */
const [url = '', count = '0', ...tokens] = process.argv.slice(2);
let opened = 0;
let ready = 0;
const delays: number[] = [];
const server = createServer((_, response) => response.end(JSON.stringify(delays.splice(0))));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
function openNext(): void {
  if (opened === Number(count)) return;
  const token = tokens[Math.floor(opened++ / 10)] ?? '';
  const stream = request(`${url}/v1/events/stream`, { headers: { authorization: `Bearer ${token}` } });
  stream.on('response', (response) => {
    if (response.statusCode !== 200) throw new Error(`stream refused: ${response.statusCode}`);
    let isReady = false;
    response.on('data', (chunk: Buffer) => {
      if (!isReady && ++ready === Number(count)) process.send?.({ url: own });
      isReady = true;
      for (const [, at] of chunk.toString().matchAll(/"appended_at":(\d+)/g))
        delays.push(Date.now() - Number(at));
    });
    openNext();
  });
  stream.end();
}
for (let i = 0; i < OPENING; i++) openNext();
