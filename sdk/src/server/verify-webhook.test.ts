import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifyWebhook } from './verify-webhook.ts';

const KEYS = [Buffer.alloc(32, 1), Buffer.alloc(24, 2)] as const;
const secretOf = (key: Buffer) => `whsec_${key.toString('base64')}`;
const BODY = '{"object":"event","id":"e1","type":"offer.published","note":"ünï"}';
const now = () => Math.floor(Date.now() / 1000);

function webhook({ keys = [KEYS[0]] as Buffer[], timestamp = now(), body = BODY, id = 'e1' } = {}) {
  const signed = `${id}.${timestamp}.${body}`;
  const signature = keys
    .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
    .join(' ');
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature };
}
const verify = (options: Partial<Parameters<typeof verifyWebhook>[0]> = {}) =>
  verifyWebhook({ body: BODY, headers: webhook(), secret: secretOf(KEYS[0]), ...options });
const refusal = (options: Partial<Parameters<typeof verifyWebhook>[0]>) =>
  verify(options).then(
    () => 'accepted',
    (error) => error.code ?? error.name,
  );

describe('verifyWebhook', () => {
  test('returns the event of a genuine webhook, whatever the form of body and headers', async () => {
    const headers = Object.fromEntries(
      Object.entries(webhook()).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    for (const options of [
      {},
      { body: Buffer.from(BODY) },
      { headers: new Headers(webhook()) },
      { headers },
      { secret: [secretOf(KEYS[1]), secretOf(KEYS[0])] },
      { headers: webhook({ keys: [KEYS[1], KEYS[0]] }) },
      { headers: { ...webhook(), 'webhook-signature': `v1a,abc v2,abc ${webhook()['webhook-signature']}` } },
    ])
      expect(await verify(options)).toEqual(JSON.parse(BODY));
  });

  test.each([
    ['an old timestamp', { headers: webhook({ timestamp: now() - 301 }) }, 'timestamp_expired'],
    ['a future timestamp', { headers: webhook({ timestamp: now() + 400 }) }, 'timestamp_expired'],
    ['another body', { body: `${BODY} ` }, 'signature_invalid'],
    ['another id', { headers: { ...webhook(), 'webhook-id': 'e2' } }, 'signature_invalid'],
    ['another secret', { secret: secretOf(KEYS[1]) }, 'signature_invalid'],
    [
      'a changed timestamp',
      { headers: { ...webhook({ timestamp: now() - 9 }), 'webhook-timestamp': String(now()) } },
      'signature_invalid',
    ],
    ['no signature', { headers: { ...webhook(), 'webhook-signature': '' } }, 'headers_missing'],
    ['no headers', { headers: {} }, 'headers_missing'],
    [
      'a timestamp that is no number',
      { headers: { ...webhook(), 'webhook-timestamp': 'NaN' } },
      'headers_missing',
    ],
    ['a known id', { isKnown: (id: string) => id === 'e1' }, 'replayed'],
    ['a secret of 23 bytes', { secret: secretOf(Buffer.alloc(23, 1)) }, 'TypeError'],
    ['a secret without its prefix', { secret: KEYS[0].toString('base64') }, 'TypeError'],
    ['an empty secret', { secret: '' }, 'TypeError'],
    ['no secrets', { secret: [] }, 'TypeError'],
  ])('refuses %s', async (_case, options, code) => {
    expect(await refusal(options)).toBe(code);
  });

  test('an unknown webhook is refused for its signature, not for its age or its id', async () => {
    const headers = webhook({ keys: [KEYS[1]], timestamp: 1 });
    expect(await refusal({ headers, isKnown: () => true })).toBe('signature_invalid');
  });
});
