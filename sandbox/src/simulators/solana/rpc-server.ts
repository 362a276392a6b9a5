import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { applyFault, type Fault } from '../fault.ts';
import { readBody } from '../http.ts';
import { RpcError } from '../rpc-error.ts';
import { accountMethods } from './account-methods.ts';
import { clusterMethods } from './cluster-methods.ts';
import { payFromFaucet } from './faucet.ts';
import { historyMethods } from './history-methods.ts';
import type { Node } from './node.ts';
import { sendMethods } from './send-methods.ts';

/** A node served over HTTP. `fault` simulates a network fault between the node and its callers. */
export type ServedNode = { node: Node; fault?: Fault };

type Method = (node: Node, params: readonly unknown[]) => unknown;

const METHODS = new Map<string, Method>(
  Object.entries({ ...accountMethods, ...clusterMethods, ...historyMethods, ...sendMethods(payFromFaucet) }),
);
const MAX_BODY_BYTES = 50 * 1024;
/** How many slots a node with the `stale` fault lags behind. */
const STALE_SLOTS = 50;

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-allow-headers': 'content-type, solana-client',
  'access-control-allow-private-network': 'true',
  'access-control-max-age': '86400',
};

/** Serves Solana's JSON-RPC. `findNode` returns the node at a path. */
export function createRpcServer(findNode: (path: string) => ServedNode | undefined): Server {
  return createServer((request, response) => {
    serve(findNode, request, response).catch(() => response.destroy());
  });
}

async function serve(
  findNode: (path: string) => ServedNode | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<unknown> {
  const served = findNode(request.url ?? '');
  if (!served) return reply(response, 404, failure(null, -32_600, 'no such chain'));
  if (request.method === 'OPTIONS') return response.writeHead(204, CORS).end();
  if (request.method !== 'POST') return reply(response, 405, failure(null, -32_600, 'use POST'));
  const { fault } = served;
  if (fault && (await applyFault(fault, request, response))) return;
  const body = await readBody(request, MAX_BODY_BYTES);
  if (body === undefined) return reply(response, 413, failure(null, -32_600, 'request too large'));
  const result = handleBody(viewOf(served), body);
  await served.node.chain.committed();
  reply(response, 200, result);
}

function viewOf({ node, fault }: ServedNode): Node {
  return fault?.mode() === 'stale' ? node.behind(STALE_SLOTS) : node;
}

function handleBody(node: Node, body: string): unknown {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return failure(null, -32_700, 'Parse error');
  }
  if (!Array.isArray(parsed)) return handleCall(node, parsed);
  if (parsed.length === 0) return failure(null, -32_600, 'Invalid request');
  return parsed.map((call) => handleCall(node, call));
}

function handleCall(node: Node, call: unknown): unknown {
  const { id = null, method, params = [] } = (call ?? {}) as Record<string, unknown>;
  if (typeof method !== 'string' || !Array.isArray(params)) return failure(id, -32_600, 'Invalid request');
  const handle = METHODS.get(method);
  if (!handle) return failure(id, -32_601, 'Method not found');
  try {
    return { jsonrpc: '2.0', result: handle(node, params), id };
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error.code, error.message, error.data);
    return failure(id, -32_603, 'Internal error');
  }
}

function failure(id: unknown, code: number, message: string, data?: unknown) {
  return { jsonrpc: '2.0', error: { code, message, ...(data === undefined ? {} : { data }) }, id };
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', ...CORS }).end(toJson(body));
}

/** Serializes u64 values (bigints) as bare numbers, as nodes do. `JSON.stringify` throws for a bigint. */
function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map((entry) => toJson(entry ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`).join(',')}}`;
}
