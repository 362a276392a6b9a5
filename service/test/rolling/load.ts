import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';

export type Credentials = { client_id: string; client_secret: string };
/** `settled`: how many participations were completed. */
export type Load = { requests: number; failures: string[]; settled: number };
/** Returns the reply's body, or null if the request failed. */
export type Send = (
  method: 'GET' | 'POST',
  path: string,
  headers: Record<string, string>,
  body?: string,
) => Promise<string | null>;
/** Sends further requests until `isRunning` returns false. */
export type MoreLoad = (send: Send, load: Load, isRunning: () => boolean) => Promise<unknown>;

/** The secrets that the callers currently use. A rotation changes the secrets while the load runs. */
export type Callers = {
  /** All credentials that must work. The clients alternate between them. */
  credentials: Credentials[];
  /** The secrets with which the providers sign their webhooks. */
  identitySecret: string;
  documentsSecret: string;
};

const CLIENTS = 6;
const CONNECTIONS = 16;
const MAX_SHOWN_LENGTH = 120;

/**
 * Sends requests on keep-alive connections until `stop` resolves. These are POST requests (new tokens and webhooks),
 * which no proxy may repeat, and reads with the newest and the first token of each client.
 */
export async function sendLoad(
  url: string,
  callers: Callers,
  stop: Promise<unknown>,
  sendMore: MoreLoad = async () => undefined,
): Promise<Load> {
  const load: Load = { requests: 0, failures: [], settled: 0 };
  const dispatcher = new Agent({ connections: CONNECTIONS, keepAliveTimeout: 30_000 });
  let isRunning = true;
  void stop
    .catch(() => undefined)
    .finally(() => {
      isRunning = false;
    });
  const send: Send = async (method, path, headers, body) => {
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
  const sendWebhooks = async (event: string) => {
    const headers = { 'content-type': 'application/json' };
    const review = JSON.stringify({
      type: 'unknown',
      applicantId: event,
      createdAtMs: '2026-01-01 00:00:00.000',
    });
    const digest = createHmac('sha256', callers.identitySecret).update(review).digest('hex');
    await send('POST', '/webhooks/identity', { ...headers, 'x-payload-digest': digest }, review);
    const form = JSON.stringify({
      event_type: 'form.viewed',
      timestamp: new Date().toISOString(),
      data: { external_id: event },
    });
    const seconds = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', callers.documentsSecret)
      .update(`${seconds}.${form}`)
      .digest('hex');
    const signed = { ...headers, 'x-docuseal-signature': `${seconds}.${signature}` };
    await send('POST', '/webhooks/documents', signed, form);
  };
  const client = async (_: unknown, number: number) => {
    const first = await newToken(number);
    for (let turn = 0; isRunning; turn++) {
      await sendWebhooks(`${number}x${turn}`);
      // If the request for a token failed, `send` has already counted the failure.
      for (const token of [first, await newToken(turn)].filter((each) => each !== null))
        for (const path of ['/v1/offers', '/v1/participations', '/v1/offers?limit=1'])
          await send('GET', path, { authorization: `Bearer ${token}` });
    }
  };
  await Promise.all([...Array.from({ length: CLIENTS }, client), sendMore(send, load, () => isRunning)]);
  await dispatcher.close();
  // Throws if `stop` was rejected: something that the caller did during the load has failed.
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
