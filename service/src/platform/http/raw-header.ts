import type { IncomingMessage } from 'node:http';

/**
 * Returns one header. Does not read `headers`, because Node parses all headers when `headers` is first read.
 */
export function rawHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === name.length && rawHeaders[i]?.toLowerCase() === name)
      return rawHeaders[i + 1];
  return undefined;
}
