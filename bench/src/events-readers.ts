import { request } from 'node:http';

/**
 * The number of streams that may be opening at once. A stream counts as a request until its headers are sent,
 * so this stays below the default of `PARTNER_CONCURRENCY` (100).
 */
const OPENING = 50;

/** Opens `count` event streams, ten per token, and reports when all of them have caught up. */
const [url = '', count = '0', ...tokens] = process.argv.slice(2);
let opened = 0;
let ready = 0;
function openNext(): void {
  if (opened === Number(count)) return;
  const token = tokens[Math.floor(opened++ / 10)] ?? '';
  const stream = request(`${url}/v1/events/stream`, { headers: { authorization: `Bearer ${token}` } });
  stream.on('response', (response) => {
    if (response.statusCode !== 200) throw new Error(`stream refused: ${response.statusCode}`);
    let isReady = false;
    response.on('data', () => {
      if (!isReady && ++ready === Number(count)) process.send?.({ url });
      isReady = true;
    });
    openNext();
  });
  stream.end();
}
for (let i = 0; i < OPENING; i++) openNext();
