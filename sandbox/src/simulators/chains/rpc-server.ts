import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readBody } from '../body.ts';
import { type Fault, misbehave } from '../fault.ts';
import type { Chain } from './chain.ts';
import { RpcError, type RpcRequest } from './evm.ts';
import { askStale } from './stale.ts';

export type ServedChain = { chain: Chain; fault: Fault };

type Ask = (args: RpcRequest) => Promise<unknown>;

const BODY_LIMIT = 1_048_576;
const BATCH_LIMIT = 1000;
const GAS_CAP = 10_000_000;
const METERED = new Set(['eth_call', 'eth_estimateGas']);
// The node holds no keys, and time and state move by the sandbox's controls alone.
const REFUSED = /^(?!eth_|net_|web3_)|^eth_(sign|sendTransaction|subscribe|unsubscribe)/;

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-allow-headers': 'content-type',
  'access-control-allow-private-network': 'true',
  'access-control-max-age': '86400',
};

/** JSON-RPC at `/{chain}` for anyone, and at `/{chain}/{serviceKey}` for the service, where faults apply. */
export function createRpcServer(chains: Map<string, ServedChain>, serviceKey: string): Server {
  return createServer((request, response) => {
    serve(chains, serviceKey, request, response).catch(() => response.destroy());
  });
}

async function serve(
  chains: Map<string, ServedChain>,
  serviceKey: string,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const [, name = '', key] = (request.url ?? '').split('/');
  const served = chains.get(name);
  if (!served || (key !== undefined && key !== serviceKey))
    return send(response, 404, failure(null, -32600, 'no such chain'));
  if (request.method === 'OPTIONS') return response.writeHead(204, CORS).end();
  if (request.method !== 'POST') return send(response, 405, failure(null, -32600, 'use POST'));
  const forService = key !== undefined;
  if (forService && (await misbehave(served.fault, request, response))) return;
  const body = await readBody(request, BODY_LIMIT);
  if (body === undefined) return send(response, 413, failure(null, -32600, 'request too large'));
  const stale = forService && served.fault.mode() === 'stale';
  const ask: Ask = stale ? (args) => askStale(served.chain, args) : (args) => served.chain.request(args);
  send(response, 200, await answerBody(ask, body));
}

// EDR records every step of a call: an endless loop with a whole block's gas would take gigabytes of memory.
function capGas({ method, params }: RpcRequest): RpcRequest {
  const [call, ...rest] = Array.isArray(params) ? params : [];
  if (!METERED.has(method) || typeof call !== 'object' || call === null) return { method, params };
  const asked = Number((call as { gas?: unknown }).gas ?? GAS_CAP);
  return asked < GAS_CAP
    ? { method, params }
    : { method, params: [{ ...call, gas: `0x${GAS_CAP.toString(16)}` }, ...rest] };
}

async function answerBody(ask: Ask, body: string): Promise<unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return failure(null, -32700, 'parse error');
  }
  if (!Array.isArray(parsed)) return answerOne(ask, parsed);
  if (parsed.length === 0 || parsed.length > BATCH_LIMIT)
    return failure(null, -32600, 'batch is empty or too long');
  return Promise.all(parsed.map((call) => answerOne(ask, call)));
}

async function answerOne(ask: Ask, call: unknown): Promise<unknown> {
  const { id = null, method, params } = (call ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
  if (typeof method !== 'string') return failure(id, -32600, 'invalid request');
  if (REFUSED.test(method)) return failure(id, -32601, `the method ${method} is not available`);
  try {
    return { jsonrpc: '2.0', id, result: (await ask(capGas({ method, params: params ?? [] }))) ?? null };
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error.code, error.message, error.data);
    return failure(id, -32603, 'internal error');
  }
}

function failure(id: unknown, code: number, message: string, data?: unknown) {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { ...CORS, 'content-type': 'application/json' }).end(JSON.stringify(body));
}
