import type { IncomingMessage } from 'node:http';

/** The whole body, or undefined when it is longer than allowed. */
export async function readBody(request: IncomingMessage, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // The rest is read and thrown away: closing early would cut off our own answer.
    if (size <= limit) chunks.push(chunk);
  }
  if (size > limit) return undefined;
  return Buffer.concat(chunks).toString('utf8');
}
