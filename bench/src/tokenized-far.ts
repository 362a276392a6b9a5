import { connect, createServer, type Socket } from 'node:net';

/** Puts a distance before a server: what goes either way arrives so many milliseconds later. */
const [, , target = '', milliseconds = ''] = process.argv;
const { hostname, port } = new URL(target);
const delay = Number(milliseconds) / 2;

const server = createServer({ noDelay: true }, (near) => {
  const far = connect({ host: hostname, port: Number(port), noDelay: true });
  carry(near, far);
  carry(far, near);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') process.send?.({ url: `http://127.0.0.1:${address?.port}` });
});

function carry(from: Socket, to: Socket): void {
  from.on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), delay));
  from.on('close', () => setTimeout(() => to.destroy(), delay));
  from.on('error', () => to.destroy());
}
