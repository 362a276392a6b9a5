import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Reads the whole body. Returns undefined if the body is longer than `maxBytes`. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Reads and discards the rest of the body, because closing the connection early would cut off the reply.
    if (size <= maxBytes) chunks.push(chunk);
  }
  if (size > maxBytes) return undefined;
  return Buffer.concat(chunks).toString('utf8');
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Returns whether a header's value equals the secret. Compares them in constant time. */
export function isSecret(value: string | string[] | undefined, secret: string): boolean {
  const [given, expected] = [Buffer.from(String(value ?? '')), Buffer.from(secret)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
