import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { applyFault, type Fault } from '../fault.ts';
import { readBody, sendJson } from '../http.ts';
import { RpcError } from '../rpc-error.ts';
import type { Chain } from './chain.ts';
import type { RpcRequest } from './evm.ts';
import { requestStale } from './stale.ts';

export type ServedChain = { chain: Chain; fault: Fault };

type Request = (args: RpcRequest) => Promise<unknown>;

const MAX_BODY_BYTES = 1_048_576;
const MAX_BATCH_SIZE = 1000;
const MAX_CALL_GAS = 10_000_000;
const METERED_METHODS = new Set(['eth_call', 'eth_estimateGas']);
// The methods that the server rejects. The node has no keys, so it cannot sign. Subscriptions need a persistent
// connection. Only the sandbox's controls may change the time or the state.
const FORBIDDEN_METHODS = /^(?!eth_|net_|web3_)|^eth_(sign|sendTransaction|subscribe|unsubscribe)/;

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-allow-headers': 'content-type',
  'access-control-allow-private-network': 'true',
  'access-control-max-age': '86400',
};

/**
 * Serves JSON-RPC at `/{chain}` for everyone, and at `/{chain}/{serviceKey}` for the service. Faults apply only to the
 * service's requests.
 */
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
  if (forService && (await applyFault(served.fault, request, response))) return;
  const body = await readBody(request, MAX_BODY_BYTES);
  if (body === undefined) return send(response, 413, failure(null, -32600, 'request too large'));
  const isStale = forService && served.fault.mode() === 'stale';
  const handle: Request = (args) => (isStale ? requestStale(served.chain, args) : served.chain.request(args));
  send(response, 200, await handleBody(handle, body));
}

// Limits the gas for calls. EDR records every step of a call, so an endless loop with a whole block's gas would use
// gigabytes of memory.
function capGas({ method, params }: RpcRequest): RpcRequest {
  const [call, ...rest] = Array.isArray(params) ? params : [];
  if (!METERED_METHODS.has(method) || typeof call !== 'object' || call === null) return { method, params };
  const gas = Number((call as { gas?: unknown }).gas ?? MAX_CALL_GAS);
  return gas < MAX_CALL_GAS
    ? { method, params }
    : { method, params: [{ ...call, gas: `0x${MAX_CALL_GAS.toString(16)}` }, ...rest] };
}

async function handleBody(request: Request, body: string): Promise<unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return failure(null, -32700, 'parse error');
  }
  if (!Array.isArray(parsed)) return handleCall(request, parsed);
  if (parsed.length === 0 || parsed.length > MAX_BATCH_SIZE)
    return failure(null, -32600, 'batch is empty or too long');
  return Promise.all(parsed.map((call) => handleCall(request, call)));
}

async function handleCall(request: Request, call: unknown): Promise<unknown> {
  const { id = null, method, params } = (call ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
  if (typeof method !== 'string') return failure(id, -32600, 'invalid request');
  if (FORBIDDEN_METHODS.test(method)) return failure(id, -32601, `the method ${method} is not available`);
  try {
    return { jsonrpc: '2.0', id, result: (await request(capGas({ method, params: params ?? [] }))) ?? null };
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error.code, error.message, error.data);
    return failure(id, -32603, 'internal error');
  }
}

function failure(id: unknown, code: number, message: string, data?: unknown) {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  sendJson(response, status, body, CORS);
}
