import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { applyFault, type Fault } from '../fault.ts';
import { isSecret, readBody, sendJson } from '../http.ts';
import type { OneShotFaults } from '../one-shot-faults.ts';
import { handleApiRequest } from './api.ts';
import { handleSigningPage, showMails } from './signing-page.ts';
import type { Submissions } from './submissions.ts';

const MAX_BODY_BYTES = 1_048_576;

type Parts = { submissions: Submissions; apiKey: string; fault: Fault; oneShotFaults: OneShotFaults };

/** Serves the provider's API under `/api`, the signing pages under `/s`, and the provider's outgoing mail at `/`. */
export function createDocumentsServer(parts: Parts): Server {
  return createServer((request, response) => {
    serve(parts, request, response).catch(() => response.destroy());
  });
}

async function serve(
  { submissions, apiKey, fault, oneShotFaults }: Parts,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { method = 'GET', url = '/' } = request;
  const [path = '/', search = ''] = url.split('?', 2);
  if (path === '/') return showMails(submissions, response);
  if (path.startsWith('/s/')) return handleSigningPage(submissions, request, response);
  if (await applyFault(fault, request, response)) return;
  const text = await readBody(request, MAX_BODY_BYTES);
  if (!isSecret(request.headers['x-auth-token'], apiKey))
    return sendJson(response, 401, { error: 'Not authenticated' });
  const body = parseObject(text);
  if (body === undefined) return sendJson(response, 422, { error: 'Unable to parse the JSON' });
  const oneShotFault = oneShotFaults.take(method);
  if (oneShotFault === 'error_500') return sendJson(response, 500, { error: 'Internal error' });
  const query = new URLSearchParams(search);
  const reply = await handleApiRequest(submissions, { method, path, query, body });
  if (oneShotFault !== 'silent_after_effect') sendJson(response, reply.status, reply.body);
}

function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
