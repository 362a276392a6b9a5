import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';

export type Credentials = { client_id: string; client_secret: string };
export type Load = { requests: number; failures: string[] };

/** The secrets that the callers currently use. A rotation changes them while the load runs. */
export type Callers = {
  /** All credentials that must work. The clients alternate between them. */
  credentials: Credentials[];
  /** The secret with which the identity provider signs its webhooks. */
  webhookSecret: string;
};

const CLIENTS = 6;
const MAX_SHOWN_LENGTH = 120;

/**
 * Sends requests on keep-alive connections until `stop` resolves: POST requests (new tokens and webhooks),
 * which no proxy may repeat, and reads with the newest and the first token of each client.
 */
export async function sendLoad(url: string, callers: Callers, stop: Promise<unknown>): Promise<Load> {
  const load: Load = { requests: 0, failures: [] };
  const dispatcher = new Agent({ connections: CLIENTS, keepAliveTimeout: 30_000 });
  let isRunning = true;
  void stop
    .catch(() => undefined)
    .finally(() => {
      isRunning = false;
    });
  /** Returns the reply's body, or null if the request failed. */
  const send = async (
    method: 'GET' | 'POST',
    path: string,
    headers: Record<string, string>,
    body?: string,
  ) => {
    load.requests++;
    try {
      const reply = await request(url + path, { method, dispatcher, headers, ...(body && { body }) });
      const text = await reply.body.text();
      if (reply.statusCode === 200) return text;
      load.failures.push(`${method} ${path}: ${reply.statusCode} ${firstLine(text)}`);
    } catch (error) {
      load.failures.push(`${method} ${path}: ${error}`);
    }
    return null;
  };
  const newToken = async (turn: number): Promise<string | null> => {
    const credentials = callers.credentials[turn % callers.credentials.length];
    const body = JSON.stringify({ grant_type: 'client_credentials', ...credentials });
    const reply = await send('POST', '/oauth/token', { 'content-type': 'application/json' }, body);
    return reply === null ? null : JSON.parse(reply).access_token;
  };
  const sendWebhook = async (event: string) => {
    const body = JSON.stringify({
      type: 'unknown',
      applicantId: event,
      createdAtMs: '2026-01-01 00:00:00.000',
    });
    const digest = createHmac('sha256', callers.webhookSecret).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-payload-digest': digest };
    await send('POST', '/webhooks/identity', headers, body);
  };
  const client = async (_: unknown, number: number) => {
    const first = await newToken(number);
    for (let turn = 0; isRunning; turn++) {
      await sendWebhook(`${number}x${turn}`);
      // If the request for a token failed, `send` has already counted the failure.
      for (const token of [first, await newToken(turn)].filter((each) => each !== null))
        for (const path of ['/v1/offers', '/v1/participations', '/v1/offers?limit=1'])
          await send('GET', path, { authorization: `Bearer ${token}` });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await dispatcher.close();
  // Rethrows the error if a step failed.
  await stop;
  return load;
}

/**
 * Returns the error code of a JSON reply, or the first line of any other reply, such as the error page of a
 * proxy.
 */
function firstLine(text: string): string {
  try {
    return String(JSON.parse(text).code);
  } catch {
    return text.trim().split('\n', 1)[0]?.slice(0, MAX_SHOWN_LENGTH) ?? '';
  }
}
