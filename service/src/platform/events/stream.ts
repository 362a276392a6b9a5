import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { bearerToken, type Caller } from '../../kernel/access.ts';
import type { Context } from '../context/context.ts';
import { findStart } from './log.ts';

/**
 * Opens a stream of the caller's events after `Last-Event-ID` or `after`. Without either, the stream contains only new
 * events.
 */
export async function openStream(
  ctx: Context,
  caller: Caller,
  query: { after?: string },
  headers: IncomingHttpHeaders,
): Promise<Readable> {
  // A reconnecting client repeats the original URL, so the `Last-Event-ID` header is newer than the `after` parameter.
  const header = headers['last-event-id'];
  const after = (typeof header === 'string' && header !== '' ? header : query.after) ?? '';
  return ctx.streams.open(caller, bearerToken(headers.authorization), async () => {
    if (after === '') return null;
    return (await findStart(ctx, caller, after)).position;
  });
}
