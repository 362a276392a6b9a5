import { CausewayError, errorOfReply } from './error.ts';
import { assertNotRedirected, type CausewayOptions, trimBaseUrl } from './request.ts';
import { sleep } from './sleep.ts';
import type { Event } from './wire.ts';

export type EventStreamOptions = {
  /**
   * The stream starts after the event with this id. Default: the stream contains only events that happen from now on.
   */
  after?: string | undefined;
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
  /** Called each time the stream has caught up with all past events. */
  onCaughtUp?: (() => void) | undefined;
};

type Frame = { id?: string; event?: string; data?: string };

/** The service sends a heartbeat every 15 s, so a connection that stays silent for three times that long is dead. */
const SILENCE_TIMEOUT_MS = 45_000;
/**
 * How many of the newest events to read after the stream has connected, if there were no events yet when it was opened.
 * Such a stream has no event id to resume from, and would otherwise miss the events that happened before it connected.
 */
const MAX_FIRST_EVENTS = 100;
const RECONNECT_MS = 250;
const INITIAL_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
/** Client errors (4xx) that reconnecting may fix. */
const RETRYABLE_STATUSES = new Set([408, 425, 429]);

/**
 * Returns a function that streams events and, after an interruption, reconnects and resumes. That function throws only
 * errors that reconnecting cannot fix, such as `events_expired`.
 */
export function createEventStream(options: CausewayOptions, readNewest: (limit: number) => Promise<Event[]>) {
  return async function* stream({
    after,
    signal,
    onCaughtUp,
  }: EventStreamOptions = {}): AsyncGenerator<Event, void> {
    let last = after;
    let refresh = false;
    /** Whether a new token has been requested since the last frame. */
    let hasRefreshed = false;
    let failures = 0;
    let hasStarted = after !== undefined;
    while (!signal?.aborted) {
      const connection = new AbortController();
      const abort = () => connection.abort();
      signal?.addEventListener('abort', abort);
      try {
        // Starts after the newest event, so that no event is missed while the stream connects or reconnects.
        if (!hasStarted) last = (await readNewest(1))[0]?.id;
        hasStarted = true;
        const body = await connect(options, last, refresh, connection);
        refresh = false;
        const read = last === undefined ? (await readNewest(MAX_FIRST_EVENTS)).reverse() : [];
        const ids = new Set(read.map(({ id }) => id));
        for (const event of read) {
          last = event.id;
          yield event;
        }
        for await (const frame of readFrames(body, connection)) {
          failures = 0;
          hasRefreshed = false;
          if (frame.event === 'caught_up') onCaughtUp?.();
          else if (frame.event === 'end') refresh = frame.data?.includes('token_expired') ?? false;
          else if (frame.id !== undefined && !ids.has(frame.id)) {
            last = frame.id;
            yield JSON.parse(frame.data ?? '') as Event;
          }
        }
      } catch (error) {
        if (signal?.aborted) return;
        failures++;
        const isRejected = error instanceof CausewayError && error.status === 401;
        if (isPermanent(error) && (!isRejected || hasRefreshed)) throw error;
        refresh = isRejected;
        hasRefreshed ||= isRejected;
      } finally {
        signal?.removeEventListener('abort', abort);
        connection.abort();
      }
      await sleep(delayMs(failures), signal).catch(() => undefined);
    }
  };
}

async function connect(
  options: CausewayOptions,
  last: string | undefined,
  refresh: boolean,
  connection: AbortController,
): Promise<ReadableStream<Uint8Array>> {
  const { accessToken } = options;
  const token = typeof accessToken === 'string' ? accessToken : await accessToken({ refresh });
  const timer = setTimeout(() => connection.abort(), SILENCE_TIMEOUT_MS);
  try {
    const reply = await (options.fetch ?? fetch)(`${trimBaseUrl(options.baseUrl)}/v1/events/stream`, {
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${token}`,
        ...(last !== undefined && { 'last-event-id': last }),
      },
      redirect: 'manual',
      signal: connection.signal,
    });
    assertNotRedirected(reply);
    if (reply.ok && reply.body !== null) return reply.body;
    throw errorOfReply(reply.status, await reply.json().catch(() => undefined), reply.headers);
  } finally {
    clearTimeout(timer);
  }
}

/** Parses server-sent events. Comment lines are heartbeats and yield nothing. */
async function* readFrames(
  body: ReadableStream<Uint8Array>,
  connection: AbortController,
): AsyncGenerator<Frame, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let frame: Frame = {};
  for (;;) {
    const timer = setTimeout(() => connection.abort(), SILENCE_TIMEOUT_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    const lines = (text + decoder.decode(value, { stream: true })).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines.map((each) => each.replace(/\r$/, ''))) {
      const [, name, content = ''] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
      if (name !== undefined) frame = { ...frame, [name]: content };
      else if (line === '') {
        if (frame.data !== undefined) yield frame;
        frame = {};
      }
    }
  }
}

function isPermanent(error: unknown): boolean {
  if (!(error instanceof CausewayError)) return error instanceof SyntaxError;
  const { status, code } = error;
  return code === 'not_signed_in' || (status >= 400 && status < 500 && !RETRYABLE_STATUSES.has(status));
}

function delayMs(failures: number): number {
  const jitter = 0.5 + Math.random() / 2;
  if (failures === 0) return RECONNECT_MS * jitter;
  return Math.min(INITIAL_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS) * jitter;
}
