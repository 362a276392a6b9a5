import { appendFileSync, mkdirSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { realMicros } from '@causeway/service/kernel/clock.ts';
import { toTimestamp } from '@causeway/service/kernel/wire.ts';
import { readBody } from './http.ts';
import { closeServer, createListen } from './ports.ts';

/**
 * How an inbox responds: `ok` with status 200, `error` with 500, `gone` with 410, `redirect` with a redirect to the
 * address of a cloud's metadata service, and `drip` with endless headers. `hang` never responds.
 */
export const INBOX_MODES = ['ok', 'error', 'hang', 'gone', 'redirect', 'drip'] as const;
export type InboxMode = (typeof INBOX_MODES)[number];

export type InboxRequest = { at: string; headers: IncomingHttpHeaders; body: string };

export type Inbox = { id: string; url: string; mode: InboxMode; requests: InboxRequest[] };

/** Webhook receivers. They share one HTTP server and survive restarts of the sandbox. */
export type Inboxes = {
  create(id: string): Inbox;
  find(id: string): Inbox | undefined;
  setMode(inbox: Inbox, mode: InboxMode): void;
  stop(): Promise<void>;
};

const MAX_REQUESTS = 1_000;
const MAX_BODY_BYTES = 1024 * 1024;
const DRIP_INTERVAL_MS = 1_000;
const METADATA_URL = 'http://169.254.169.254/latest/meta-data/';

/** A line in an inbox's journal. */
type Entry = { mode: InboxMode } | { request: InboxRequest };

export async function startInboxes(folder: string): Promise<Inboxes> {
  mkdirSync(folder, { recursive: true });
  const inboxes = new Map<string, Omit<Inbox, 'url'>>();
  const apply = (id: string, entry: Entry): void => {
    const inbox = inboxes.get(id) ?? { id, mode: 'ok', requests: [] };
    inboxes.set(id, inbox);
    if ('mode' in entry) inbox.mode = entry.mode;
    else inbox.requests.push(entry.request);
    if (inbox.requests.length > MAX_REQUESTS) inbox.requests.shift();
  };
  const record = (id: string, entry: Entry): void => {
    apply(id, entry);
    appendFileSync(join(folder, `${id}.jsonl`), `${JSON.stringify(entry)}\n`, { mode: 0o600 });
  };
  for (const [id, entries] of readJournals(folder)) for (const entry of entries) apply(id, entry);

  const server = createServer(async (request, response) => {
    const id = String(request.url).slice(1);
    const body = await readBody(request, MAX_BODY_BYTES).catch(() => undefined);
    const inbox = inboxes.get(id);
    if (inbox === undefined || body === undefined) return void response.writeHead(404).end();
    record(id, { request: { at: wireTime(), headers: request.headers, body } });
    answer(inbox.mode, response);
  });
  const origin = await (await createListen(folder))('inbox', server);
  const find = (id: string): Inbox | undefined => {
    const inbox = inboxes.get(id);
    return inbox && { ...inbox, url: `${origin}/${id}` };
  };
  return {
    create: (id) => {
      record(id, { mode: 'ok' });
      return find(id) as Inbox;
    },
    find,
    setMode: ({ id }, mode) => record(id, { mode }),
    stop: () => closeServer(server),
  };
}

function readJournals(folder: string): Map<string, Entry[]> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return new Map(
    files.map((name) => [
      name.slice(0, -'.jsonl'.length),
      readLines(join(folder, name)).map((line) => JSON.parse(line) as Entry),
    ]),
  );
}

/**
 * Returns the complete lines of a journal. If a crash left the last line incomplete, removes that line. Otherwise the
 * next entry would be appended to it.
 */
function readLines(path: string): string[] {
  const content = readFileSync(path);
  const end = content.lastIndexOf(0x0a) + 1;
  if (end < content.length) truncateSync(path, end);
  return content.subarray(0, end).toString('utf8').split('\n').slice(0, -1);
}

function answer(mode: InboxMode, response: ServerResponse): void {
  if (mode === 'ok') response.writeHead(200).end('ok');
  else if (mode === 'error') response.writeHead(500).end('error');
  else if (mode === 'gone') response.writeHead(410).end('gone');
  else if (mode === 'redirect') response.writeHead(302, { location: METADATA_URL }).end();
  else if (mode === 'drip') dripHeaders(response);
}

/** Sends one header a second, so that the headers never end. */
function dripHeaders({ socket }: ServerResponse): void {
  socket?.write('HTTP/1.1 200 OK\r\n');
  const timer = setInterval(() => socket?.write('x-drip: 1\r\n'), DRIP_INTERVAL_MS);
  socket?.once('close', () => clearInterval(timer));
}

function wireTime(): string {
  return toTimestamp(realMicros());
}
