import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { applyFault, type Fault } from '../fault.ts';
import { readBody, sendJson } from '../http.ts';
import type { OneShotFaults } from '../one-shot-faults.ts';
import { type Credentials, findAccessError } from './access.ts';
import { type ApiReply, failure, handleApiRequest } from './api.ts';
import type { Applicants } from './applicants.ts';
import { handleFlowPage } from './flow-page.ts';

const MAX_BODY_BYTES = 1_048_576;
const RATE_WINDOW_MS = 5_000;
const MAX_REQUESTS_PER_WINDOW = { read: 300, write: 50 };

type Parts = {
  applicants: Applicants;
  credentials: Credentials;
  fault: Fault;
  oneShotFaults: OneShotFaults;
  now: () => number;
};

/** Serves the provider's API under `/resources` and the verification page at `/flow`. */
export function createIdentityServer(parts: Parts): Server {
  const isWithinRate = createRateLimit();
  return createServer((request, response) => {
    serve(parts, isWithinRate, request, response).catch(() => response.destroy());
  });
}

async function serve(
  { applicants, credentials, fault, oneShotFaults, now }: Parts,
  isWithinRate: (method: string) => boolean,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { method = 'GET', url = '/' } = request;
  const [path = '/', search = ''] = url.split('?', 2);
  const query = new URLSearchParams(search);
  if (path === '/flow') return handleFlowPage(applicants, now(), request, response, query);
  if (await applyFault(fault, request, response)) return;
  const text = await readBody(request, MAX_BODY_BYTES);
  if (text === undefined) return send(response, failure(413, 'Too large'));
  const accessError = findAccessError(credentials, request.headers, method, url, text);
  if (accessError !== null) {
    const { status, description, ...extra } = accessError;
    return send(response, failure(status, description, extra));
  }
  if (!isWithinRate(method)) return send(response, failure(429, 'Too many requests'));
  const oneShotFault = oneShotFaults.take(method);
  if (oneShotFault === 'error_500') return send(response, failure(500, 'Internal error'));
  if (oneShotFault === 'conflict')
    return send(response, { ...failure(409, 'Try again later'), headers: { 'retry-after': '3' } });
  const reply = await handleApiRequest(applicants, { method, path, query, body: parseObject(text) }, now());
  if (oneShotFault !== 'silent_after_effect') send(response, reply);
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function send(response: ServerResponse, { status, body, headers }: ApiReply): void {
  sendJson(response, status, body, headers);
}

/** Limits reads and writes separately, over a sliding window. */
function createRateLimit(): (method: string) => boolean {
  const times = { read: [] as number[], write: [] as number[] };
  return (method) => {
    const kind = method === 'GET' ? 'read' : 'write';
    const now = performance.now();
    times[kind] = times[kind].filter((time) => time > now - RATE_WINDOW_MS);
    if (times[kind].length >= MAX_REQUESTS_PER_WINDOW[kind]) return false;
    times[kind].push(now);
    return true;
  };
}
