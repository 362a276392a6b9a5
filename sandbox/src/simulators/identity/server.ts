import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readBody } from '../body.ts';
import { type Fault, misbehave } from '../fault.ts';
import type { OneShotFaults } from '../one-shot-faults.ts';
import { type Credentials, refuseAccess } from './access.ts';
import { type Answer, answerApi, failed } from './api.ts';
import type { Cases } from './cases.ts';
import { answerFlow } from './flow-page.ts';

const BODY_LIMIT = 1_048_576;
const WINDOW = 5_000;
const MOST = { GET: 300, other: 50 };

type Parts = {
  cases: Cases;
  credentials: Credentials;
  fault: Fault;
  oneShotFaults: OneShotFaults;
  now: () => number;
};

/** The provider's API under `/resources`, and the page on which a person goes through the flow. */
export function createIdentityServer(parts: Parts): Server {
  const buckets = createBuckets();
  return createServer((request, response) => {
    serve(parts, buckets, request, response).catch(() => response.destroy());
  });
}

async function serve(
  parts: Parts,
  buckets: ReturnType<typeof createBuckets>,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { method = 'GET', url: wirePath = '/' } = request;
  const [path = '/', search = ''] = wirePath.split('?', 2);
  if (path === '/flow')
    return answerFlow(parts.cases, parts.now(), request, response, new URLSearchParams(search));
  if (await misbehave(parts.fault, request, response)) return;
  const text = await readBody(request, BODY_LIMIT);
  if (text === undefined) return send(response, failed(413, 'Too large'));
  const refused = refuseAccess(parts.credentials, request.headers, method, wirePath, text);
  if (refused !== null) {
    const { status, description, ...more } = refused;
    return send(response, failed(status, description, more));
  }
  if (!buckets.take(method)) return send(response, failed(429, 'Too many requests'));
  const oneShot = parts.oneShotFaults.take(method);
  if (oneShot === 'error_500') return send(response, failed(500, 'Internal error'));
  if (oneShot === 'conflict')
    return send(response, { ...failed(409, 'Try again later'), headers: { 'retry-after': '3' } });
  const answer = await answerApi(
    parts.cases,
    { method, path, query: new URLSearchParams(search), body: parse(text) },
    parts.now(),
  );
  if (oneShot === 'silent_after_effect') return;
  send(response, answer);
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Reads and writes have a budget each, over the last five seconds. */
function createBuckets() {
  const taken = { GET: [] as number[], other: [] as number[] };
  return {
    take: (method: string): boolean => {
      const kind = method === 'GET' ? 'GET' : 'other';
      const now = performance.now();
      taken[kind] = taken[kind].filter((time) => time > now - WINDOW);
      if (taken[kind].length >= MOST[kind]) return false;
      taken[kind].push(now);
      return true;
    },
  };
}
