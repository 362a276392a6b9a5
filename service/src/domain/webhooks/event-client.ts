import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../../kernel/errors.ts';

export type ReceivedEvent = { id: string; type: string; timestamp: string; sequence: number };

export type EventClient = {
  listSince(time: number): Promise<ReceivedEvent[]>;
  /**
   * Yields each event after the event `after` as JSON; if it is null, only new events. Reconnects until the signal is
   * aborted, and misses no event in between.
   */
  stream(after: string | null, signal: AbortSignal): AsyncGenerator<string, void>;
};

export type ClientCredentials = { baseUrl: string; clientId: string; clientSecret: string };

const TIMEOUT_MS = 20_000;
/** Three heartbeats. */
const SILENCE_TIMEOUT_MS = 45_000;
const RECONNECT_MS = 1_000;

/** Creates an events API client for commands that run on a developer's machine. The client requests its own token. */
export function createEventClient({ baseUrl, clientId, clientSecret }: ClientCredentials): EventClient {
  let token: Promise<string> | null = null;
  const requestToken = async (): Promise<string> => {
    const reply = await fetch(`${baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ grant_type: 'client_credentials', scope: 'events:read' },
        ...{ client_id: clientId, client_secret: clientSecret },
      }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { access_token, message } = (await reply.json()) as { access_token?: string; message?: string };
    if (access_token === undefined) throw new UsageError(`the service refused the credentials: ${message}`);
    return access_token;
  };
  const get = async (
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response> => {
    for (let isRetry = false; ; isRetry = true) {
      token ??= requestToken();
      const authorization = `Bearer ${await token.catch(forgetToken)}`;
      const reply = await fetch(baseUrl + path, { headers: { authorization, ...headers }, signal });
      if (reply.ok) return reply;
      token = null;
      const problem = `${reply.status} ${await reply.text()}`;
      // The event to resume from was deleted or is unknown, so reconnecting does not help.
      if (reply.status === 410 || reply.status === 422) throw new UsageError(`cannot resume: ${problem}`);
      if (reply.status !== 401 || isRetry) throw new Error(problem);
    }
  };
  const forgetToken = (error: unknown): never => {
    token = null;
    throw error;
  };
  const listPage = async (query: string): Promise<{ data: ReceivedEvent[]; starting_after?: string }> => {
    const reply = await get(`/v1/events?${query}`, {}, AbortSignal.timeout(TIMEOUT_MS));
    return (await reply.json()) as { data: ReceivedEvent[]; starting_after?: string };
  };
  const listSince = async (time: number): Promise<ReceivedEvent[]> => {
    const found: ReceivedEvent[] = [];
    for (let cursor = ''; ; ) {
      const page = await listPage(`limit=100${cursor}`);
      const wanted = page.data.filter(({ timestamp }) => Date.parse(timestamp) >= time);
      found.push(...wanted);
      if (wanted.length < page.data.length || page.starting_after === undefined) return found;
      cursor = `&starting_after=${encodeURIComponent(page.starting_after)}`;
    }
  };
  return {
    listSince,
    stream: async function* (after, signal) {
      let isStarted = false;
      for (let last = after; !signal.aborted; ) {
        try {
          // A stream without an event to resume from would miss the events that happen while it reconnects.
          if (!isStarted) last ??= (await listPage('limit=1')).data[0]?.id ?? null;
          isStarted = true;
          const silence = new AbortController();
          const open = AbortSignal.any([signal, silence.signal]);
          const headers = last === null ? {} : { 'last-event-id': last };
          const reply = await get('/v1/events/stream', headers, open);
          // If the log was empty at the start, all its events are new.
          const read = last === null ? (await listSince(0)).reverse() : [];
          for (const event of read) {
            last = event.id;
            yield JSON.stringify(event);
          }
          for await (const { id, data } of readFrames(reply, silence)) {
            if (read.some((event) => event.id === id)) continue;
            last = id;
            yield data;
          }
        } catch (error) {
          if (error instanceof UsageError) throw error;
          if (!signal.aborted) console.error(`reconnecting: ${(error as Error).message}`);
        }
        await sleep(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}

async function* readFrames(reply: Response, silence: AbortController) {
  let timer = setTimeout(() => silence.abort(), SILENCE_TIMEOUT_MS);
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of reply.body ?? []) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_TIMEOUT_MS);
      const frames = (text + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) {
        const [, id, data] = /^id: (.*)\ndata: (.*)$/.exec(frame) ?? [];
        if (id !== undefined && data !== undefined) yield { id, data };
      }
    }
  } finally {
    clearTimeout(timer);
  }
}
