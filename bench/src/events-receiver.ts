import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Responds to every webhook immediately, except for requests to `/hang`, which never get a response. */
const server = createServer((request, response) => {
  request.resume();
  if (request.url !== '/hang') response.writeHead(204).end();
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}` });
});
