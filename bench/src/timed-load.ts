import { connect, type Socket } from 'node:net';
import { loadavg } from 'node:os';
import type { Target } from './load.ts';

export type TimedLoad = {
  acceptedPerSecond: number;
  refusedPerSecond: number;
  acceptedP99: number;
  /** Arrivals that found no free connection before the run ended. */
  unsent: number;
  /** The processor time of the load generator, in cores. */
  generatorCores: number;
  loadAverage: number;
};

type Connection = { socket: Socket; text: string; scheduledAt: number };

const TICK_MS = 1;
const REFUSED = new Set([429, 503]);

/**
 * Sends requests on raw sockets, which cost little, so that the generator is not the bottleneck. Accepted and rejected
 * requests (429 and 503) are counted separately. With `rate` the load is an open loop: request `k` is due at `k / rate`
 * seconds however late the replies are, and its latency counts from then. Without it, each connection sends as fast as
 * replies arrive.
 */
export async function timedLoad(
  { url, headers = {}, paths = ['/'] }: Target,
  { seconds, connections, rate }: { seconds: number; connections: number; rate?: number },
): Promise<TimedLoad> {
  const { hostname, port, host } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const times: number[] = [];
  const idle: Connection[] = [];
  let refused = 0;
  let failed = 0;
  let sent = 0;
  let startedAt = performance.now();
  let isRunning = true;

  const dueCount = () =>
    rate === undefined
      ? Number.POSITIVE_INFINITY
      : Math.floor(((performance.now() - startedAt) / 1000) * rate);
  const sendDue = () => {
    for (let due = dueCount(); isRunning && sent < due && idle.length > 0; sent++) {
      const connection = idle.pop() as Connection;
      connection.scheduledAt = rate === undefined ? performance.now() : startedAt + (sent / rate) * 1000;
      connection.socket.write(requests[sent % requests.length] as string);
    }
  };
  const receive = (connection: Connection, chunk: string) => {
    connection.text += chunk;
    const status = readReply(connection.text);
    if (status === null) return;
    connection.text = '';
    if (REFUSED.has(status)) refused++;
    else if (status === 200) times.push(performance.now() - connection.scheduledAt);
    else failed++;
    idle.push(connection);
    sendDue();
  };
  const open = async (): Promise<Connection> => {
    const socket = connect(Number(port), hostname).setNoDelay().setEncoding('latin1');
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    const connection = { socket, text: '', scheduledAt: 0 };
    socket.on('data', (chunk) => receive(connection, String(chunk)));
    socket.on('error', () => void failed++);
    return connection;
  };

  const all = await Promise.all(Array.from({ length: connections }, open));
  idle.push(...all);
  startedAt = performance.now();
  const before = process.cpuUsage();
  const timer = setInterval(sendDue, TICK_MS);
  sendDue();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  isRunning = false;
  clearInterval(timer);
  const unsent = rate === undefined ? 0 : dueCount() - sent;
  const { user, system } = process.cpuUsage(before);
  for (const { socket } of all) socket.destroy();
  if (failed > 0) throw new Error(`${url}: ${failed} error responses or connection errors`);
  times.sort((a, b) => a - b);
  return {
    acceptedPerSecond: times.length / seconds,
    refusedPerSecond: refused / seconds,
    acceptedP99: times[Math.floor(times.length * 0.99)] ?? 0,
    unsent,
    generatorCores: (user + system) / 1e6 / seconds,
    loadAverage: loadavg()[0] ?? 0,
  };
}

/**
 * Returns the status of a complete reply, or null if the reply is incomplete. Without `content-length`,
 * assumes an empty body.
 */
function readReply(text: string): number | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end + 2))?.[1] ?? 0);
  return text.length < end + 4 + length ? null : Number(text.slice(9, 12));
}
