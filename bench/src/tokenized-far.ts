import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that adds a round-trip delay in front of a server. */
const [, , target = '', milliseconds = ''] = process.argv;
const { hostname, port } = new URL(target);
const delayMs = Number(milliseconds) / 2;

const server = createServer({ noDelay: true }, (near) => {
  const far = connect({ host: hostname, port: Number(port), noDelay: true });
  forward(near, far);
  forward(far, near);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') process.send?.({ url: `http://127.0.0.1:${address?.port}` });
});

function forward(from: Socket, to: Socket): void {
  from.on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), delayMs));
  from.on('close', () => setTimeout(() => to.destroy(), delayMs));
  from.on('error', () => to.destroy());
}
