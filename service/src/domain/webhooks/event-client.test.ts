import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { makeClient, partnerOf } from '../../../test/support/tokens.ts';
import { appendEvents } from '../../platform/events/event.ts';
import { placeEvents } from '../../platform/events/store.ts';
import { createEventClient, type ReceivedEvent } from './event-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ listen: true });
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await app.close();
});

async function append(): Promise<string[]> {
  const event = {
    ...{ partnerId: partnerOf('partner-one'), userId: null, type: 'offer.published' },
    data: { object: 'offer', id: 'an offer' },
  };
  const ids = await appendEvents(app.ctx, app.ctx.db, [event]);
  await placeEvents(app.ctx.db);
  return ids;
}

test.each(['an empty log', 'a log with events'])(
  'a stream of %s misses no event while it reconnects, also before its first event',
  async () => {
    const { clientId, secret } = await makeClient(app.ctx);
    const client = createEventClient({ baseUrl: app.ctx.baseUrl, clientId, clientSecret: secret });
    const stop = new AbortController();
    const received: string[] = [];
    const reading = (async () => {
      for await (const text of client.stream(null, stop.signal))
        received.push((JSON.parse(text) as ReceivedEvent).id);
    })();
    await sleep(1_000);
    // Ends the stream within half a second, as if its token had expired. The client reconnects a second later.
    await app.ctx.db.deleteFrom('oauth_tokens').execute();
    await sleep(850);
    const missed = await append();
    await expect.poll(() => received, { timeout: 10_000 }).toEqual(missed);
    const live = await append();
    await expect.poll(() => received, { timeout: 10_000 }).toEqual([...missed, ...live]);
    stop.abort();
    await reading;
  },
);
