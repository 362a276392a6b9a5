import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendEvents } from '../src/platform/events/event.ts';
import { type TestApp, testApp } from './support/app.ts';
import { bundleNode, killNode, type NodeProgram, startEventNode } from './support/forked-node.ts';
import { partnerOf } from './support/tokens.ts';
import { callAs, type Receiver, startReceiver } from './support/webhooks.ts';

/** Set `WEBHOOK_KILLS=500` for the full test. */
const KILLS = Number(process.env.WEBHOOK_KILLS ?? 4);
const EVENTS_PER_KILL = 40;
const TIMEOUT_MS = 60_000 + KILLS * 10_000;

let app: TestApp;
let receiver: Receiver;
let program: NodeProgram;
beforeAll(async () => {
  program = await bundleNode('event-node');
  app = await testApp({ config: { webhookAllowCidrs: ['127.0.0.0/8'] } });
  receiver = await startReceiver();
});
afterAll(async () => {
  await program.remove();
  await receiver.close();
  await app.close();
});

const startNode = () => startEventNode(program, String(app.ctx.pool.options.connectionString));

test(
  'a node that is killed while it delivers loses nothing, and repeats only with the same id',
  async () => {
    const call = await callAs(app);
    await call('POST', '/v1/webhook-endpoints', { url: receiver.url, types: ['*'] });
    const sent: string[] = [];
    const received = () => new Set(receiver.received.map(({ headers }) => String(headers['webhook-id'])));
    for (let kill = 1; kill <= KILLS; kill++) {
      const events = Array.from({ length: EVENTS_PER_KILL }, (_, n) => ({
        ...{ partnerId: partnerOf('partner-one'), userId: null, type: 'offer.published' },
        data: { object: 'offer', id: `offer ${n % 7}`, kill, n },
      }));
      sent.push(...(await appendEvents(app.ctx, app.ctx.db, events)));
      const before = receiver.received.length;
      const node = await startNode();
      // Kills the node at a different moment each time: while it sequences events, creates deliveries or sends them.
      const wanted = before + ((kill * 13) % EVENTS_PER_KILL);
      await expect
        .poll(() => receiver.received.length, { timeout: 20_000, interval: 2 })
        .toBeGreaterThanOrEqual(wanted);
      await killNode(node);
      // Ends the leases, as if their 60 seconds had passed.
      await sql`update webhook_deliveries set lease_until = now() where lease_until is not null`.execute(
        app.ctx.db,
      );
    }
    const node = await startNode();
    await expect.poll(() => received().size, { timeout: TIMEOUT_MS, interval: 20 }).toBe(sent.length);
    expect(received()).toEqual(new Set(sent));
    const bodies = new Set(receiver.received.map(({ body }) => body));
    expect(bodies.size).toBe(sent.length);
    await killNode(node);
  },
  TIMEOUT_MS,
);
