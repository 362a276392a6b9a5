import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const installed = Symbol.for('causeway.networkRefused');

/** In tests nothing leaves this machine: every other end is ours, on loopback. Holds in the process of the test file. */
export function refuseNetwork(): void {
  const marks = globalThis as { [installed]?: boolean };
  if (marks[installed]) return;
  marks[installed] = true;
  refuseConnections();
  refuseDatagrams();
  for (const holder of [dns, dns.promises]) refuseQueries(holder);
  syncBuiltinESMExports();
}

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true;
  return net.isIPv4(name.replace(/^::ffff:/, '')) && name.replace(/^::ffff:/, '').startsWith('127.');
}

function refusal(host: string): Error {
  const message = `Tests may not reach ${host}: the network is refused except for loopback.`;
  return Object.assign(new Error(message), { code: 'ECONNREFUSED' });
}

/** Every TCP client of Node, TLS and fetch included, comes through here. */
function refuseConnections(): void {
  const connect = net.Socket.prototype.connect;
  net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
    const host = targetHost(args);
    if (host === undefined || isLoopback(host)) return Reflect.apply(connect, this, args);
    // As a connection that fails a little later, which is what callers are prepared for.
    Object.assign(this, { connecting: true });
    setImmediate(() => this.destroy(refusal(host)));
    return this;
  } as typeof connect;
}

/** Undefined for a Unix socket. */
function targetHost(args: unknown[]): string | undefined {
  // net.connect hands over its arguments already sorted, as one list.
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  if (typeof first === 'object' && first !== null) {
    const { host, path } = first as { host?: string; path?: string };
    return path === undefined || path === null ? (host ?? 'localhost') : undefined;
  }
  if (typeof first === 'string' && !/^\d+$/.test(first)) return undefined;
  return typeof second === 'string' ? second : 'localhost';
}

function refuseDatagrams(): void {
  const send = dgram.Socket.prototype.send;
  dgram.Socket.prototype.send = function (this: dgram.Socket, ...args: unknown[]) {
    const host = args.slice(1).findLast((value) => typeof value === 'string') ?? 'localhost';
    if (!isLoopback(String(host))) throw refusal(String(host));
    return Reflect.apply(send, this, args);
  } as typeof send;
}

function refuseQueries(holder: object): void {
  const functions = holder as Record<string, unknown>;
  for (const name of Object.keys(functions)) {
    const original = functions[name];
    if (typeof original !== 'function' || !/^(lookup|resolve|reverse)/.test(name)) continue;
    functions[name] = (...args: unknown[]) => {
      const host = String(args[0] ?? 'localhost');
      if (isLoopback(host) || net.isIP(host) !== 0) return Reflect.apply(original, holder, args);
      const callback = args.at(-1);
      if (typeof callback !== 'function') return Promise.reject(refusal(host));
      process.nextTick(callback, refusal(host));
      return undefined;
    };
  }
}

refuseNetwork();
