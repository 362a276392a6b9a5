import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readBody } from '../body.ts';
import { type Fault, misbehave } from '../fault.ts';
import type { OneShotFaults } from '../one-shot-faults.ts';
import { type Answer, answerApi } from './api.ts';
import type { Office } from './office.ts';
import { answerSigner, showMails } from './sign-page.ts';

const BODY_LIMIT = 1_048_576;

type Parts = { office: Office; apiKey: string; fault: Fault; oneShotFaults: OneShotFaults };

/** The provider's API under `/api`, the signing pages under `/s`, and its outgoing mails at `/`. */
export function createSigningServer(parts: Parts): Server {
  return createServer((request, response) => {
    serve(parts, request, response).catch(() => response.destroy());
  });
}

async function serve(
  { office, apiKey, fault, oneShotFaults }: Parts,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { method = 'GET', url = '/' } = request;
  const [path = '/', search = ''] = url.split('?', 2);
  if (path === '/') return showMails(office, response);
  if (path.startsWith('/s/')) return answerSigner(office, request, response);
  if (await misbehave(fault, request, response)) return;
  const text = await readBody(request, BODY_LIMIT);
  if (!isKey(apiKey, request.headers['x-auth-token']))
    return send(response, { status: 401, body: { error: 'Not authenticated' } });
  const body = parse(text);
  if (body === undefined) return send(response, { status: 422, body: { error: 'Unable to parse the JSON' } });
  const oneShot = oneShotFaults.take(method);
  if (oneShot === 'error_500') return send(response, { status: 500, body: { error: 'Internal error' } });
  const answer = await answerApi(office, { method, path, query: new URLSearchParams(search), body });
  if (oneShot !== 'silent_after_effect') send(response, answer);
}

function isKey(expected: string, given: string | string[] | undefined): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(String(given ?? ''))];
  return one.length === other.length && timingSafeEqual(one, other);
}

function parse(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
