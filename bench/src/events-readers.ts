import { request } from 'node:http';

/** Opens `count` event streams, ten per token, and reports when all of them have caught up. */
const [url = '', count = '0', ...tokens] = process.argv.slice(2);
let ready = 0;
for (let i = 0; i < Number(count); i++) {
  const token = tokens[Math.floor(i / 10)] ?? '';
  const stream = request(`${url}/v1/events/stream`, { headers: { authorization: `Bearer ${token}` } });
  stream.on('response', (response) => {
    if (response.statusCode !== 200) throw new Error(`stream refused: ${response.statusCode}`);
    let isReady = false;
    response.on('data', () => {
      if (!isReady && ++ready === Number(count)) process.send?.({ url });
      isReady = true;
    });
  });
  stream.end();
}
