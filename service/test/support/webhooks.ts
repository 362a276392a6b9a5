import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startWebhookWorker } from '../../src/domain/webhooks/worker.ts';
import { startSequencer } from '../../src/platform/events/sequencer.ts';
import { type TestApp, testApp } from './app.ts';

export type ReceivedWebhook = { path: string; headers: IncomingHttpHeaders; body: string };

/** Replies to a received webhook. Default: 200. */
export type Answer = (received: ReceivedWebhook, response: ServerResponse) => void;

export type Receiver = {
  url: string;
  received: ReceivedWebhook[];
  answer(next: Answer): void;
  close(): Promise<void>;
};

/** Starts a webhook receiver on loopback. */
export async function startReceiver(): Promise<Receiver> {
  const received: ReceivedWebhook[] = [];
  let answer: Answer = (_webhook, response) => void response.end('ok');
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const webhook = {
      path: String(request.url),
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    received.push(webhook);
    answer(webhook, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    answer: (next) => {
      answer = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type WebhookNode = TestApp & { stop(): Promise<void> };

/** Starts the application with its sequencer and webhook worker. Webhooks may be sent to loopback. */
export async function startWebhookNode(): Promise<WebhookNode> {
  const app = await testApp({
    config: { webhookAllowCidrs: ['127.0.0.0/8', '::1/128'] },
    baseUrl: 'http://causeway.test',
  });
  const stopSequencer = startSequencer(app.ctx);
  const worker = await startWebhookWorker(app.ctx);
  return {
    ...app,
    stop: async () => {
      await worker.stop();
      await stopSequencer();
      await app.close();
    },
  };
}

export type Call = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: the tests read members of arbitrary JSON
) => Promise<{ status: number; json: any }>;

/** Returns a function that calls the API with the partner's own token. */
export async function callAs(node: TestApp, clientId = 'partner-one'): Promise<Call> {
  const token = await node.tokenFor({ clientId, userId: null });
  return async (method, path, body) => {
    const reply = await node.app.inject({
      method,
      url: path,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { payload: body }),
    });
    return { status: reply.statusCode, json: reply.json() };
  };
}
