import { createServer } from 'node:http';
import { freePort } from '../../src/platform/http/listening.ts';

/** Returns the result to answer a call with, or an object whose `fault` is the error to answer with. */
type Rewrite = (method: string, result: unknown, params: unknown[]) => unknown;

export type LyingNode = {
  url: string;
  /** Replaces the node's results from now on; null = the node answers honestly. */
  lie(rewrite: Rewrite | null): void;
  /** Returns the number of calls of this method that the node has received. */
  received(method: string): number;
  close(): Promise<void>;
};

/** Starts an RPC server that forwards calls to `target` and may change the results. */
export async function startLyingNode(target: string): Promise<LyingNode> {
  let rewrite: Rewrite | null = null;
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const calls = [JSON.parse(body)].flat() as { id: unknown; method: string; params: unknown[] }[];
    received.push(...calls.map(({ method }) => method));
    const reply = await fetch(target, { method: 'POST', body });
    const parsed = (await reply.json()) as { id: unknown; result?: unknown }[];
    const change = (each: { id: unknown; result?: unknown }) => {
      const { method = '', params = [] } = calls.find(({ id }) => id === each.id) ?? {};
      if (rewrite === null || !('result' in each)) return each;
      const result = rewrite(method, each.result, params);
      const { fault } = (result ?? {}) as { fault?: { code: number; message: string } };
      return fault === undefined ? { ...each, result } : { jsonrpc: '2.0', id: each.id, error: fault };
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(parsed) ? parsed.map(change) : change(parsed)));
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    lie: (changed) => {
      rewrite = changed;
    },
    received: (method) => received.filter((each) => each === method).length,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
