import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { callSolana } from './solana-node.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function startNode(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(['{"error":"api key expired"}', '{"jsonrpc":"2.0","error":null}', 'Bad request'])(
  'asks the next node if a gateway answers 400 with %s',
  async (body) => {
    const gateway = await startNode((_request, response) => void response.writeHead(400).end(body));
    const node = await startNode((_request, response) => void response.end('{"result":7}'));
    await expect(
      callSolana({ rpcUrls: [gateway, node], signal: undefined }, 'getBlockHeight', []),
    ).resolves.toBe(7);
  },
);

test('a 400 with a JSON-RPC error is the answer of the node', async () => {
  const body = '{"error":{"code":-32602,"message":"invalid params"}}';
  const node = await startNode((_request, response) => void response.writeHead(400).end(body));
  await expect(
    callSolana({ rpcUrls: [node, node], signal: undefined }, 'getBlockHeight', []),
  ).rejects.toThrow('invalid params');
});

test('a refusal that arrives after the user has left still names the node that may have sent the transaction', async () => {
  const leaving = new AbortController();
  const lost = await startNode((request) => void request.socket.destroy());
  const refusing = await startNode((_request, response) => {
    response.write('{"error":');
    setTimeout(() => {
      leaving.abort();
      response.end('{"code":-32002,"message":"Blockhash not found"}}');
    }, 50);
  });
  const session = { rpcUrls: [lost, refusing], signal: leaving.signal };
  await expect(callSolana(session, 'sendTransaction', [])).rejects.toMatchObject({
    info: { cause: expect.any(TypeError) },
  });
});
