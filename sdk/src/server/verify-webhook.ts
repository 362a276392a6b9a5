import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Event } from '../wire.ts';
import { WebhookError } from './webhook-error.ts';

type HeaderSource = Headers | Record<string, string | readonly string[] | undefined>;

export type VerifyWebhookOptions = {
  /** The body exactly as received. Parsing and re-serializing the body changes its bytes. */
  body: string | Uint8Array;
  headers: HeaderSource;
  /** The endpoint's secret (`whsec_…`), or several during a rotation. */
  secret: string | readonly string[];
  /** The maximum difference between the webhook's timestamp and the current time. Default: 300. */
  toleranceSeconds?: number | undefined;
  /**
   * Returns whether an event with this id was already handled; if so, `verifyWebhook` throws `WebhookError`
   * (`replayed`).
   */
  isKnown?: ((id: string) => boolean | Promise<boolean>) | undefined;
};

const PREFIX = 'whsec_';
const MIN_SECRET_BYTES = 24;
const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * Verifies a webhook (Standard Webhooks) and returns its event. Throws `WebhookError` if the webhook is malformed, has
 * no valid signature, was not sent recently, or is already known to `isKnown`. Throws `TypeError` for a malformed
 * secret.
 *
 * @example
 * ```ts no-run
 * import { createServer } from 'node:http';
 * import { isWebhookError, verifyWebhook } from '@causeway/sdk/server';
 *
 * createServer(async (request, response) => {
 *   const chunks: Uint8Array[] = [];
 *   for await (const chunk of request) chunks.push(chunk);
 *   try {
 *     const secret = process.env.WEBHOOK_SECRET ?? '';
 *     const event = await verifyWebhook({ body: Buffer.concat(chunks), headers: request.headers, secret });
 *     console.log(event.type, event.data);
 *     response.writeHead(204).end();
 *   } catch (error) {
 *     if (!isWebhookError(error)) throw error;
 *     response.writeHead(400).end(error.message);
 *   }
 * }).listen(3000);
 * ```
 */
export async function verifyWebhook(options: VerifyWebhookOptions): Promise<Event> {
  const { body, headers, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = options;
  const keys = (typeof options.secret === 'string' ? [options.secret] : options.secret).map(readKey);
  if (keys.length === 0) throw new TypeError('secret is missing');
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (id === '' || !/^\d{1,12}$/.test(timestamp) || signatures === '')
    throw new WebhookError('headers_missing');
  const content = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body);
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), content]);
  // Check the signature first, so that an attacker learns nothing about the clock or known ids.
  if (!keys.some((key) => isSigned(key, signed, signatures))) throw new WebhookError('signature_invalid');
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookError('timestamp_expired');
  if (await options.isKnown?.(id)) throw new WebhookError('replayed');
  return JSON.parse(content.toString()) as Event;
}

function readKey(secret: string): Buffer {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  if (!secret.startsWith(PREFIX) || key.length < MIN_SECRET_BYTES)
    throw new TypeError(
      `secret must be "${PREFIX}" followed by at least ${MIN_SECRET_BYTES} bytes in base64; use the secret that was returned when the endpoint was created`,
    );
  return key;
}

/**
 * Returns whether one of the signatures was made with `key`. During a rotation, the header contains several signatures,
 * separated by spaces.
 */
function isSigned(key: Buffer, signed: Buffer, signatures: string): boolean {
  const expected = createHmac('sha256', key).update(signed).digest();
  return signatures.split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',');
    const given = Buffer.from(text, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function headerOf(headers: HeaderSource, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const key = Object.keys(headers).find((each) => each.toLowerCase() === name) ?? name;
  const value = headers[key];
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}
