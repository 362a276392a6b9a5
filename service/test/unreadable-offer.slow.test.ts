import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from './setup/database.ts';
import { TEST_SECRET } from './setup/secret.ts';
import { testApp } from './support/app.ts';
import { startTestChain, type TestChain, type TestNode } from './support/chain.ts';
import { makeOffer } from './support/offers.ts';
import { productionSettings, runCauseway, startService } from './support/service.ts';

let database: TestDatabase;
let chain: TestChain;
let node: TestNode;
let settings: Record<string, string>;

/** Publishes an offer whose contract does not exist on its chain. */
beforeAll(async () => {
  database = await createTestDatabase();
  const app = await testApp({ databaseUrl: database.url });
  await makeOffer(app.ctx);
  await app.close();
  chain = await startTestChain('ethereum_sepolia', true);
  node = await chain.addNode();
  settings = {
    ...productionSettings(database.url),
    CAUSEWAY_SECRET: TEST_SECRET.toString('base64'),
    RPC_URL_ETHEREUM_SEPOLIA: node.url,
    CAUSEWAY_DEMO: '',
  };
});
afterAll(async () => {
  await chain.close();
  await database.drop();
});

test('an offer whose contract cannot be read does not stop the start: it is disabled with an alert', async () => {
  const service = await startService(settings);
  await expect.poll(service.output).toContain('offer contract disabled: it cannot be read');
  const metrics = /Metrics\s+(http:\/\/127\.0\.0\.1:\d+)/.exec(service.output())?.[1] ?? '';
  await expect
    .poll(async () => (await fetch(`${metrics}/metrics`)).text())
    .toMatch(/causeway_offer_contract_unreadable\{offer="harbour-sale",chain="ethereum_sepolia"\} 1/);
  expect(await service.stop()).toBe(0);
});

test('the offer can be closed without a running service and without a node', async () => {
  await node.stop();
  const close = ['offer', 'close', 'harbour-sale', '--reason', 'its contract is gone'];
  expect(await runCauseway(close, settings)).toMatchObject({
    code: 2,
    text: expect.stringContaining('--yes'),
  });
  expect(await runCauseway([...close, '--yes'], settings)).toMatchObject({ code: 0 });
  const listed = await runCauseway(['offer', 'list'], settings);
  expect(JSON.parse(listed.text)).toMatchObject([{ slug: 'harbour-sale', state: 'ended' }]);
});
