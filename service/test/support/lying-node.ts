import { createServer } from 'node:http';
import { freePort } from '../../src/http/free-port.ts';

export type LyingNode = {
  url: string;
  /** Replaces the node's results from now on; null = the node answers honestly. */
  lie(rewrite: ((method: string, result: unknown) => unknown) | null): void;
  close(): Promise<void>;
};

/** Starts an RPC server that forwards calls to `target` and may change the results. */
export async function startLyingNode(target: string): Promise<LyingNode> {
  let rewrite: ((method: string, result: unknown) => unknown) | null = null;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const reply = await fetch(target, { method: 'POST', body });
    const parsed = (await reply.json()) as { id: unknown; result?: unknown }[];
    const calls = [JSON.parse(body)].flat() as { id: unknown; method: string }[];
    const change = (each: { id: unknown; result?: unknown }) => {
      const method = calls.find(({ id }) => id === each.id)?.method ?? '';
      return rewrite === null || !('result' in each)
        ? each
        : { ...each, result: rewrite(method, each.result) };
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
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
