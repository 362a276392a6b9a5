import { createHmac } from 'node:crypto';
import type { Random } from '../../kernel/ids.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export function newWebhookSecret(random: Random): string {
  return `${PREFIX}${random(SECRET_BYTES).toString('base64')}`;
}

type Message = { id: string; timestampSeconds: number; body: string };

/** Returns the headers of Standard Webhooks, with one signature per secret (two secrets during a rotation). */
export function signatureHeaders(
  secrets: readonly string[],
  { id, timestampSeconds, body }: Message,
): Record<string, string> {
  const signed = `${id}.${timestampSeconds}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}
