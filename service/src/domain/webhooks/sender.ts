import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request as requestHttp } from 'node:http';
import type { Socket } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { realTime } from '../../kernel/clock.ts';
import type { SendError, SendResult, WebhookSender } from '../../platform/context/ports.ts';
import { parseRetryAfter } from '../../platform/outbound/retry-after.ts';
import {
  createAddressRules,
  createUrlRules,
  DestinationRefused,
  type Resolve,
  systemResolver,
  type UrlRules,
} from './url-rules.ts';

const TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
const MAX_ADDRESSES = 4;
/** The diagnostics channel on which undici reports which socket carries a request. */
const SENT_CHANNEL = 'undici:client:sendHeaders';
const MAX_READ_BYTES = 64 * 1024;
const MAX_KEPT_BYTES = 1024;

type Options = {
  allowCidrs: readonly string[];
  baseUrl: string;
  proxyUrl?: string | null;
  resolve?: Resolve;
  timeoutMs?: number;
  onResult?(result: SendResult): void;
};

export function openWebhookSender({
  allowCidrs,
  baseUrl,
  proxyUrl = null,
  resolve = systemResolver(),
  timeoutMs = TIMEOUT_MS,
  onResult,
}: Options): WebhookSender {
  const rules = createUrlRules(createAddressRules(allowCidrs), baseUrl, resolve);
  const stopping = new AbortController();
  /** For each connection through the proxy. The delivery log shows this address instead of the proxy's. */
  const destinations = new WeakMap<Socket, string>();
  const openTunnel = proxyUrl === null ? null : createTunnels(proxyUrl);
  const agent = new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: guardedConnector(rules, timeoutMs, stopping.signal, openTunnel, destinations),
  });
  /** By the body of the attempt, which undici reports together with the socket. */
  const addresses = new WeakMap<object, string>();
  const onSent = (message: unknown): void => {
    const { request: sent, socket } = message as { request: { body: unknown }; socket: Socket };
    const address = destinations.get(socket) ?? socket.remoteAddress ?? '';
    if (Buffer.isBuffer(sent.body)) addresses.set(sent.body, address);
  };
  subscribe(SENT_CHANNEL, onSent);
  return {
    checkUrl: rules.check,
    send: async (url, headers, text) => {
      const body = Buffer.from(text);
      const startedAt = performance.now();
      const finish = (part: Partial<SendResult>): SendResult => {
        const result = {
          ...{ status: null, error: null, response: null, retryAfterSeconds: null },
          ...part,
          durationMs: Math.round(performance.now() - startedAt),
          address: addresses.get(body) ?? null,
        };
        onResult?.(result);
        return result;
      };
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const signal = AbortSignal.any([timeout, stopping.signal]);
        const reply = await request(url, { method: 'POST', headers, body, dispatcher: agent, signal });
        const retryAfter = String(reply.headers['retry-after'] ?? '') || undefined;
        const response = await readStart(reply.body);
        const retryAfterSeconds = parseRetryAfter(retryAfter, realTime());
        return finish({ status: reply.statusCode, response, retryAfterSeconds });
      } catch (error) {
        return finish({ error: sendErrorOf(error, timeout, stopping.signal) });
      }
    },
    probe: async (url) => {
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const signal = AbortSignal.any([timeout, stopping.signal]);
        const { body } = await request(url, { method: 'HEAD', dispatcher: agent, signal });
        await body.dump();
        return null;
      } catch (error) {
        return sendErrorOf(error, timeout, stopping.signal);
      }
    },
    close: async () => {
      stopping.abort();
      await agent.destroy();
      unsubscribe(SENT_CHANNEL, onSent);
    },
  };
}

/**
 * Refuses a host if any of its addresses is not permitted; otherwise tries one after another. The check is not in the
 * `lookup` option of the socket, because that is not called for a URL that contains an IP address.
 */
function guardedConnector(
  rules: UrlRules,
  timeoutMs: number,
  stopping: AbortSignal,
  openTunnel: OpenTunnel | null,
  destinations: WeakMap<Socket, string>,
): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS });
  const connectTo = (options: buildConnector.Options) =>
    new Promise<Socket>((resolve, reject) => {
      connect(options, (error, socket) => (error === null ? resolve(socket) : reject(error)));
    });
  const connectThrough = async (tunnel: OpenTunnel, options: buildConnector.Options, signal: AbortSignal) => {
    const { hostname: address, protocol, port } = options;
    const httpSocket = await tunnel(address, port || (protocol === 'https:' ? '443' : '80'), signal);
    const socket = protocol === 'https:' ? await connectTo({ ...options, httpSocket }) : httpSocket;
    destinations.set(socket, address);
    return socket;
  };
  const connectAny = async (options: buildConnector.Options): Promise<Socket> => {
    const { protocol, hostname, port } = options;
    const ended = AbortSignal.any([AbortSignal.timeout(timeoutMs), stopping]);
    const found = await rules.permittedAddresses({ protocol, hostname, port: port ?? '' });
    let failure: unknown;
    for (const address of found.slice(0, MAX_ADDRESSES)) {
      ended.throwIfAborted();
      try {
        const checked = { ...options, hostname: address };
        return await (openTunnel === null ? connectTo(checked) : connectThrough(openTunnel, checked, ended));
      } catch (error) {
        // Keeps the first TLS error, because it is more helpful than an error from a later address.
        if (!isTlsError(failure)) failure = error;
      }
    }
    throw failure;
  };
  return (options, callback) => {
    connectAny(options).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}

/** Reads up to 64 KiB, because a connection can be reused only if its whole response was read. */
async function readStart(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    if (size < MAX_KEPT_BYTES) chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_READ_BYTES) break;
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_KEPT_BYTES).toString();
  // PostgreSQL cannot store NUL, and other control characters could hide text from people who read the response.
  return text === ''
    ? null
    : text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => (/[\n\t]/.test(character) ? character : ''));
}

function sendErrorOf(error: unknown, timeout: AbortSignal, stopping: AbortSignal): SendError {
  if (timeout.aborted) return 'timeout';
  if (stopping.aborted) return 'stopped';
  if (error instanceof DestinationRefused)
    return error.reason === 'unresolvable' ? 'dns_error' : 'address_refused';
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return 'connection_refused';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout';
  return isTlsError(error) ? 'tls_error' : 'connection_failed';
}

function isTlsError(error: unknown): boolean {
  return /^(ERR_SSL|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '');
}

type OpenTunnel = (address: string, port: string, signal: AbortSignal) => Promise<Socket>;

/** Opens tunnels with CONNECT (RFC 9110, section 9.3.6). */
function createTunnels(proxyUrl: string): OpenTunnel {
  const { hostname, port, username, password } = new URL(proxyUrl);
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return (address, targetPort, signal) =>
    new Promise((resolve, reject) => {
      const authority = `${address.includes(':') ? `[${address}]` : address}:${targetPort}`;
      const connecting = requestHttp({
        ...{ method: 'CONNECT', host: hostname.replace(/^\[|\]$/g, ''), port: port || 80, path: authority },
        ...{ agent: false, signal },
        headers: {
          host: authority,
          ...(username !== '' && {
            'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}`,
          }),
        },
      });
      connecting.on('connect', ({ statusCode }, socket) => {
        if (statusCode === 200) return resolve(socket);
        socket.destroy();
        reject(new Error(`the webhook proxy answered CONNECT with ${statusCode}`));
      });
      // Hides the error's code, such as ECONNREFUSED. The delivery log would otherwise blame the receiver.
      connecting.on('error', (cause) => reject(new Error('the webhook proxy failed', { cause })));
      connecting.end();
    });
}
