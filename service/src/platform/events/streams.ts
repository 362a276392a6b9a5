import { Readable } from 'node:stream';
import type { Caller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { Kernel } from '../context/kernel.ts';
import type { EventStreams, TokenGuard } from '../context/ports.ts';
import { renderEvent } from './log.ts';
import {
  EVENTS_CHANNEL,
  type EventRow,
  readEventsAfter,
  readEventsBetween,
  readLastPosition,
} from './store.ts';

type Stream = {
  caller: Caller;
  token: string;
  readable: Readable;
  position: bigint;
  /** False while the stream reads past events itself, true once it gets new ones from the shared reader. */
  isLive: boolean;
  drained: (() => void) | null;
};

type EndReason = 'token_expired' | 'slow_reader' | 'shutting_down' | 'unavailable';

const MAX_STREAMS_PER_CALLER = 10;
const MAX_UNREAD_BYTES = 1_048_576;
const PAGE_SIZE = 200;
const BATCH_SIZE = 1_000;
const RETRY_MS = 2_000;
const POLL_INTERVAL_MS = 250;
const TOKEN_CHECK_INTERVAL_MS = 500;
/** While the notification connection is down, every check runs a query. */
const MAX_TOKEN_CHECKS = 8;
const HEARTBEAT_INTERVAL_MS = 15_000;
const DRAIN_TIMEOUT_MS = 30_000;
/** How long a client may take to read the remaining data after its stream has ended. */
const LAST_READ_MS = 5_000;

type Dependencies = Pick<Kernel, 'db' | 'log' | 'listener'> & { guard: Pick<TokenGuard, 'inspect'> };

/**
 * Each stream first reads past events itself, then gets new ones from a reader that all streams share. So the node
 * reads each new event only once, however many streams are open.
 */
export async function createEventStreams(ctx: Dependencies): Promise<EventStreams> {
  const streams = new Set<Stream>();
  const counts = new Map<string, number>();
  /**
   * The live streams have received all events up to here. Updated only while a stream is open, so the first one to
   * open reads it again. Null before that.
   */
  let tail: bigint | null = null;
  let reading: Promise<void> | null = null;
  let isStale = false;
  let isClosed = false;

  const end = (stream: Stream, reason: EndReason): void => {
    if (!streams.delete(stream)) return;
    stream.readable.push(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    stream.readable.push(null);
    setTimeout(() => stream.readable.destroy(), LAST_READ_MS).unref();
  };
  const sendLive = (stream: Stream, frames: readonly Frame[]): void => {
    const { userId } = stream.caller;
    for (const { row, text } of frames) {
      if (row.position <= stream.position || (userId !== null && row.user_id !== userId)) continue;
      if (!streams.has(stream)) return;
      stream.readable.push(text);
      if (stream.readable.readableLength > MAX_UNREAD_BYTES) end(stream, 'slow_reader');
    }
  };
  const readTail = async (): Promise<boolean> => {
    if (streams.size === 0) return false;
    const upTo = await readLastPosition(ctx.db);
    const after = tail ?? upTo;
    tail = after;
    if (upTo <= after) return false;
    const partnerIds = [...new Set([...streams].map(({ caller }) => caller.partnerId))];
    const rows = await readEventsBetween(ctx.db, partnerIds, { after, upTo }, BATCH_SIZE);
    const reached = rows.length < BATCH_SIZE ? upTo : (rows.at(-1)?.position ?? upTo);
    const frames = new Map<string, Frame[]>(partnerIds.map((id) => [id, []]));
    for (const row of rows) frames.get(row.partner_id)?.push({ row, text: toFrame(row) });
    for (const stream of streams) {
      if (!stream.isLive) continue;
      sendLive(stream, frames.get(stream.caller.partnerId) ?? []);
      if (reached > stream.position) stream.position = reached;
    }
    tail = reached;
    return reached < upTo;
  };
  const readTailUntilDone = async (): Promise<void> => {
    while (isStale && !isClosed) {
      isStale = false;
      try {
        if (await readTail()) isStale = true;
      } catch (err) {
        ctx.log.warn({ err }, 'reading new events failed');
      }
    }
    reading = null;
  };
  const wake = (): void => {
    isStale = true;
    if (reading === null) reading = readTailUntilDone();
  };

  /** Sends past events until the stream has caught up with the shared reader. Then makes the stream live. */
  const catchUp = async (stream: Stream): Promise<void> => {
    const { partnerId, userId } = stream.caller;
    while (streams.has(stream)) {
      const reached = tail;
      const rows = await readEventsAfter(ctx.db, partnerId, stream.position, PAGE_SIZE, userId);
      for (const row of rows) {
        if (stream.readable.readableLength >= stream.readable.readableHighWaterMark) await drain(stream);
        if (!streams.has(stream)) return;
        stream.readable.push(toFrame(row));
        stream.position = row.position;
      }
      // That read may have started before this stream was opened, and may leave out the events of its partner.
      if (rows.length === 0 && reading !== null) await reading;
      else if (rows.length === 0 && reached !== null && reached === tail && streams.has(stream)) {
        if (reached > stream.position) stream.position = reached;
        stream.isLive = true;
        stream.readable.push('event: caught_up\ndata: {}\n\n');
        return;
      }
      if (tail === null) await initTail();
    }
  };
  const initTail = async (): Promise<void> => {
    const position = await readLastPosition(ctx.db);
    tail ??= position;
  };
  const drain = async (stream: Stream): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    const isDrained = await new Promise<boolean>((resolve) => {
      stream.drained = () => resolve(true);
      timer = setTimeout(() => resolve(false), DRAIN_TIMEOUT_MS).unref();
    });
    clearTimeout(timer);
    if (!isDrained) end(stream, 'slow_reader');
  };

  const checkToken = async (stream: Stream): Promise<void> => {
    try {
      const verified = await ctx.guard.inspect(stream.token);
      if (verified?.caller.scopes.has('events:read') !== true) end(stream, 'token_expired');
    } catch {
      // A failed check says nothing about the token, so the stream stays open until the next check.
    }
  };
  let isChecking = false;
  const checkTokens = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    const unchecked = [...streams];
    const checkNext = async (): Promise<void> => {
      for (let stream = unchecked.pop(); stream !== undefined; stream = unchecked.pop())
        await checkToken(stream);
    };
    await Promise.all(Array.from({ length: MAX_TOKEN_CHECKS }, checkNext));
    isChecking = false;
  };
  const timers = [
    setInterval(() => streams.size > 0 && wake(), POLL_INTERVAL_MS),
    setInterval(checkTokens, TOKEN_CHECK_INTERVAL_MS),
    setInterval(() => {
      for (const { readable } of streams) readable.push(': heartbeat\n\n');
    }, HEARTBEAT_INTERVAL_MS),
  ];
  for (const timer of timers) timer.unref();
  await ctx.listener.on(EVENTS_CHANNEL, () => void (streams.size > 0 && wake()));

  const release = (key: string): void => {
    const left = (counts.get(key) ?? 1) - 1;
    if (left === 0) counts.delete(key);
    else counts.set(key, left);
  };
  return {
    open: async (caller, token, start) => {
      const open = counts.get(caller.key) ?? 0;
      if (isClosed || open >= MAX_STREAMS_PER_CALLER)
        throw new ApiError('rate_limited', {}, { headers: { 'retry-after': '10' } });
      counts.set(caller.key, open + 1);
      try {
        if (streams.size === 0) tail = null;
        const position = (await start()) ?? (await readLastPosition(ctx.db));
        await initTail();
        const stream = newStream(caller, token, position);
        stream.readable.on('close', () => {
          streams.delete(stream);
          stream.drained?.();
          release(caller.key);
        });
        streams.add(stream);
        stream.readable.push(`retry: ${RETRY_MS}\n\n`);
        catchUp(stream).catch((err: unknown) => {
          ctx.log.warn({ err }, 'reading past events failed');
          end(stream, 'unavailable');
        });
        return stream.readable;
      } catch (error) {
        release(caller.key);
        throw error;
      }
    },
    close: () => {
      isClosed = true;
      for (const timer of timers) clearInterval(timer);
      for (const stream of streams) end(stream, 'shutting_down');
    },
  };
}

type Frame = { row: EventRow; text: string };

function toFrame(row: EventRow): string {
  return `id: ${row.id}\ndata: ${JSON.stringify(renderEvent(row))}\n\n`;
}

function newStream(caller: Caller, token: string, position: bigint): Stream {
  const readable = new Readable({
    read: () => {
      stream.drained?.();
      stream.drained = null;
    },
  });
  const stream: Stream = { caller, token, readable, position, isLive: false, drained: null };
  return stream;
}
