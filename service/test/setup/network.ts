import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const INSTALLED = Symbol.for('causeway.networkRefused');

/** Blocks all network access except loopback in the test file's process. */
export function blockNetwork(): void {
  const marks = globalThis as { [INSTALLED]?: boolean };
  if (marks[INSTALLED]) return;
  marks[INSTALLED] = true;
  blockConnections();
  blockDatagrams();
  for (const holder of [dns, dns.promises]) blockDnsQueries(holder);
  syncBuiltinESMExports();
}

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true;
  return net.isIPv4(name.replace(/^::ffff:/, '')) && name.replace(/^::ffff:/, '').startsWith('127.');
}

function blockedError(host: string): Error {
  const message = `Tests must not reach ${host}: only loopback is allowed.`;
  return Object.assign(new Error(message), { code: 'ECONNREFUSED' });
}

/** Blocks connections from every TCP client of Node, including TLS and fetch. */
function blockConnections(): void {
  const connect = net.Socket.prototype.connect;
  net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
    const host = targetHost(args);
    if (host === undefined || isLoopback(host)) return Reflect.apply(connect, this, args);
    // Fails asynchronously, like a real connection error.
    Object.assign(this, { connecting: true });
    setImmediate(() => this.destroy(blockedError(host)));
    return this;
  } as typeof connect;
}

/** Returns the host that a connection goes to, or undefined for a Unix socket. */
function targetHost(args: unknown[]): string | undefined {
  // `net.connect` passes its normalized arguments as one array.
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  if (typeof first === 'object' && first !== null) {
    const { host, path } = first as { host?: string; path?: string };
    return path === undefined || path === null ? (host ?? 'localhost') : undefined;
  }
  if (typeof first === 'string' && !/^\d+$/.test(first)) return undefined;
  return typeof second === 'string' ? second : 'localhost';
}

function blockDatagrams(): void {
  const send = dgram.Socket.prototype.send;
  dgram.Socket.prototype.send = function (this: dgram.Socket, ...args: unknown[]) {
    const host = args.slice(1).findLast((value) => typeof value === 'string') ?? 'localhost';
    if (!isLoopback(String(host))) throw blockedError(String(host));
    return Reflect.apply(send, this, args);
  } as typeof send;
}

function blockDnsQueries(holder: object): void {
  const functions = holder as Record<string, unknown>;
  for (const name of Object.keys(functions)) {
    const original = functions[name];
    if (typeof original !== 'function' || !/^(lookup|resolve|reverse)/.test(name)) continue;
    functions[name] = (...args: unknown[]) => {
      const host = String(args[0] ?? 'localhost');
      if (isLoopback(host) || net.isIP(host) !== 0) return Reflect.apply(original, holder, args);
      const callback = args.at(-1);
      if (typeof callback !== 'function') return Promise.reject(blockedError(host));
      process.nextTick(callback, blockedError(host));
      return undefined;
    };
  }
}

blockNetwork();
