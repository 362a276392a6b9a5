import { connect, type Socket } from 'node:net';
import { loadavg } from 'node:os';
import { groupBy } from '@causeway/service/group-by.ts';
import { percentile } from './statistics.ts';

/**
 * One kind of request in the mix. `requests` holds complete HTTP requests as text. A kind without `substitute` reuses
 * its requests, and replaces `{n}` in the text with a unique number each time.
 */
export type Kind = {
  weight: number;
  requests: string[];
  /** The status of an accepted request. Default: 200. */
  status?: number;
  /**
   * The kind to send when all requests of this kind are used up. Set `substitute` if each request of this kind is valid
   * only once, for example because it spends a refresh token.
   */
  substitute?: string;
};

export type Mix = Record<string, Kind>;

export type TimedLoad = {
  acceptedPerSecond: number;
  refusedPerSecond: number;
  /** In milliseconds. */
  acceptedP50: number;
  acceptedP99: number;
  connections: number;
  /** Connections that the operating system refused or reset because too many were waiting. */
  resets: number;
  /**
   * Requests that had no reply when their connection closed, or two seconds after the load ended. The percentiles of
   * accepted requests include the time that these requests waited.
   */
  unanswered: number;
  /** Requests that replaced planned single-use requests, because the planned kind was used up. */
  substituted: number;
  /** The p99 latencies of the three slowest kinds of requests, in milliseconds. */
  slowest: Record<string, number>;
  /** The average number of cores that the load generator used. */
  generatorCores: number;
  loadAverage: number;
};

type Planned = {
  kind: string;
  text: string;
  status: number;
  onRefused?: () => void;
  isSubstitute?: boolean;
};
type Connection = { socket: Socket; text: string; request: Planned | null; since: number };

const TICK_MS = 1;
const LAST_REPLIES_MS = 2_000;
/** Stays below the limit on open files per process. */
const MAX_CONNECTIONS = 15_000;
const REFUSED = new Set([429, 503]);

/**
 * Returns a function that picks the next request. Each kind of request appears in proportion to its weight, spread
 * evenly.
 */
export function pickFrom(mix: Mix): () => Planned {
  const turns = Object.entries(mix)
    .flatMap(([kind, { weight }]) =>
      Array.from({ length: weight }, (_, i) => ({ kind, at: (i + 0.5) / weight })),
    )
    .sort((a, b) => a.at - b.at)
    .map(({ kind }) => kind);
  const unused = new Map(Object.entries(mix).map(([kind, { requests }]) => [kind, [...requests]]));
  let count = 0;
  const pick = (kind: string): Planned => {
    const left = unused.get(kind) as string[];
    const { status = 200, substitute } = mix[kind] as Kind;
    if (substitute === undefined) {
      // Shifts the index by one after each pass through `turns`. Otherwise all requests of one kind could come from the
      // users of a single partner.
      const round = Math.floor(count / turns.length);
      const text = left[(count + round) % left.length] as string;
      return { kind, status, text: text.replace('{n}', String(count)) };
    }
    const text = left.pop();
    if (text === undefined) return { ...pick(substitute), isSubstitute: true };
    return { kind, status, text, onRefused: () => void left.unshift(text) };
  };
  return () => pick(turns[count++ % turns.length] as string);
}

/**
 * Sends requests over raw sockets, which use little CPU time, so that the generator is not the bottleneck. Counts
 * accepted requests and refused requests (429 and 503) separately.
 *
 * With `rate`, requests arrive as if from many independent users (an open loop). Request `k` is due after `k / rate`
 * seconds and is sent then, even if earlier replies are late. The request uses an idle connection, or a new one if none
 * is idle. Its latency counts from the time when it was due. `MAX_CONNECTIONS` must be high: with a low limit, requests
 * would wait in the generator and never overload the node.
 *
 * With `connections`, each connection sends its next request as soon as a reply arrives. This mode measures the node's
 * highest throughput.
 */
export async function timedLoad(
  url: string,
  next: () => Planned,
  { seconds, ...load }: { seconds: number } & ({ rate: number } | { connections: number }),
): Promise<TimedLoad> {
  const { hostname, port } = new URL(url);
  const times: { kind: string; ms: number }[] = [];
  const failures: string[] = [];
  const idle: Connection[] = [];
  const open = new Set<Connection>();
  let [refused, accepted, sent, resets, unanswered, substituted] = [0, 0, 0, 0, 0, 0];
  let isRunning = true;
  const startedAt = performance.now();

  const send = (connection: Connection, since: number) => {
    connection.request = next();
    if (connection.request.isSubstitute === true) substituted++;
    connection.since = since;
    connection.socket.write(connection.request.text);
  };
  const sendDue = () => {
    if (!isRunning || !('rate' in load)) return;
    const due = Math.floor(((performance.now() - startedAt) / 1000) * load.rate);
    for (; sent < due; sent++) {
      const connection = idle.pop() ?? (open.size < MAX_CONNECTIONS ? connectTo() : undefined);
      if (connection === undefined) break;
      send(connection, startedAt + (sent / load.rate) * 1000);
    }
  };
  const giveUp = ({ request, since }: Connection) => {
    if (request === null) return;
    unanswered++;
    times.push({ kind: request.kind, ms: performance.now() - since });
  };
  const receive = (connection: Connection, chunk: string) => {
    connection.text += chunk;
    const status = readReply(connection.text);
    const { request, since } = connection;
    if (status === null || request === null) return;
    if (status === request.status) {
      times.push({ kind: request.kind, ms: performance.now() - since });
      if (isRunning) accepted++;
    } else if (!REFUSED.has(status)) failures.push(`${request.text}\n${connection.text}`);
    else {
      request.onRefused?.();
      if (isRunning) refused++;
    }
    const isLast = /\r\nconnection: close\r\n/i.test(connection.text);
    connection.text = '';
    connection.request = null;
    if (isLast) connection.socket.destroy();
    else if ('connections' in load && isRunning) send(connection, performance.now());
    else idle.push(connection);
  };
  const connectTo = (): Connection => {
    const socket = connect(Number(port), hostname).setNoDelay().setEncoding('latin1');
    const connection: Connection = { socket, text: '', request: null, since: 0 };
    open.add(connection);
    socket.on('data', (chunk) => receive(connection, String(chunk)));
    socket.on('error', () => {
      if (isRunning) resets++;
    });
    socket.on('close', () => {
      if (open.delete(connection)) giveUp(connection);
      const at = idle.indexOf(connection);
      if (at >= 0) idle.splice(at, 1);
    });
    return connection;
  };

  const before = process.cpuUsage();
  if ('connections' in load) for (let i = 0; i < load.connections; i++) send(connectTo(), performance.now());
  const timer = setInterval(sendDue, TICK_MS);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  isRunning = false;
  clearInterval(timer);
  const { user, system } = process.cpuUsage(before);
  const connections = open.size;
  const waiting = () => [...open].filter(({ request }) => request !== null);
  const end = performance.now() + LAST_REPLIES_MS;
  while (waiting().length > 0 && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 10));
  for (const connection of open) {
    giveUp(connection);
    connection.socket.destroy();
  }
  open.clear();
  if (failures.length > 0) throw new Error(`${url}: ${failures.length} failures, the first:\n${failures[0]}`);
  const all = times.map(({ ms }) => ms);
  const byKind = [...groupBy(times, ({ kind }) => kind)].map(([kind, some]): [string, number] => [
    kind,
    percentile(
      some.map(({ ms }) => ms),
      0.99,
    ),
  ]);
  return {
    acceptedPerSecond: accepted / seconds,
    refusedPerSecond: refused / seconds,
    acceptedP50: percentile(all, 0.5),
    acceptedP99: percentile(all, 0.99),
    connections,
    resets,
    unanswered,
    substituted,
    slowest: Object.fromEntries(byKind.sort(([, a], [, b]) => b - a).slice(0, 3)),
    generatorCores: (user + system) / 1e6 / seconds,
    loadAverage: loadavg()[0] ?? 0,
  };
}

/** Returns the status of a complete reply, or null if the reply is incomplete. */
function readReply(text: string): number | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = text.slice(0, end + 2);
  if (/\r\ntransfer-encoding: chunked/i.test(head))
    return text.endsWith('0\r\n\r\n') ? Number(text.slice(9, 12)) : null;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return text.length < end + 4 + length ? null : Number(text.slice(9, 12));
}
