import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver } from '../support/webhooks.ts';
import type { Credentials, MoreLoad } from './load.ts';

type Reply = { id: string; secret: string; access_token: string };
export type Subscriber = Awaited<ReturnType<typeof startSubscriber>>;

const TEST_INTERVAL_MS = 100;
const DELIVERY_TIMEOUT_MS = 30_000;

/**
 * A partner that receives webhooks. It verifies each delivery with the one secret that it knows. A delivery that is
 * signed only with another secret is a failure.
 */
export async function startSubscriber(nodeUrl: string, credentials: Credentials) {
  const receiver = await startReceiver();
  const headers = { authorization: '', 'content-type': 'application/json' };
  const call = async (path: string, body: object): Promise<Reply> => {
    const reply = await fetch(nodeUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as Reply;
  };
  const { access_token } = await call('/oauth/token', { grant_type: 'client_credentials', ...credentials });
  headers.authorization = `Bearer ${access_token}`;
  const created = await call('/v1/webhook-endpoints', { url: receiver.url, types: ['webhook.test'] });
  const path = `/v1/webhook-endpoints/${created.id}`;
  let { secret } = created;
  let nextSecret = secret;
  const delivered = new Set<string>();
  const forged: string[] = [];
  receiver.answer(({ headers: sent, body }, response) => {
    const id = String(sent['webhook-id']);
    const signed = `${id}.${sent['webhook-timestamp']}.${body}`;
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
    if (String(sent['webhook-signature']).split(' ').includes(expected)) delivered.add(id);
    else forged.push(id);
    response.end('ok');
  });
  return {
    rotateSecret: async () => {
      nextSecret = (await call(`${path}/rotate-secret`, { grace_hours: 1 })).secret;
    },
    /** Simulates the partner deploying the new secret, some time after the rotation. */
    useNewSecret: () => {
      secret = nextSecret;
    },
    /** Requests test events, and waits until the last one is delivered. */
    receiving: async (...[send, load, isRunning]: Parameters<MoreLoad>) => {
      const sent: string[] = [];
      while (isRunning()) {
        const text = await send('POST', `${path}/test`, headers, '{}');
        if (text !== null) sent.push(JSON.parse(text).event_id);
        await sleep(TEST_INTERVAL_MS);
      }
      const end = Date.now() + DELIVERY_TIMEOUT_MS;
      while (sent.some((id) => !delivered.has(id)) && Date.now() < end) await sleep(TEST_INTERVAL_MS);
      for (const id of sent.filter((each) => !delivered.has(each)))
        load.failures.push(`webhook ${id} was not delivered`);
      load.failures.push(...forged.map((id) => `webhook ${id} was not signed with the partner's secret`));
    },
    close: receiver.close,
  };
}
