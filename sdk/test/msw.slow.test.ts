import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { installPackages } from '../../service/test/support/packages.ts';
import { createCauseway } from '../src/index.ts';
import { CausewayProvider, ParticipationsList, preload } from '../src/react/index.ts';
import { createMockService, type MswHttp, mswHandlers, participationFixture } from '../src/testing/index.ts';

/** The parts of MSW that this test uses. MSW is the partner's dependency, not the SDK's. */
type Server = {
  listen(options: object): void;
  use(handler: unknown): void;
  resetHandlers(): void;
  close(): void;
};
type Msw = { http: MswHttp<unknown> & { get: MswHttp<unknown>['all'] } };

/** The partner's code, which knows nothing about the mock. */
const causeway = createCauseway({ baseUrl: 'https://causeway.example', accessToken: 't', retries: 0 });
const readSession = async () => (await fetch('https://app.example/causeway/session')).json();

/** MSW 3 needs Node 22.12 or later. Only the major version is compared, so MSW 3 is tested from Node 24 on. */
const PACKAGES = Number(process.versions.node.split('.')[0]) >= 24 ? ['msw', 'msw-3'] : ['msw'];

describe.each(PACKAGES)('with %s', (name) => {
  const mock = createMockService();
  let msw: Msw;
  let server: Server;
  beforeAll(async () => {
    const load = createRequire(join(await installPackages('msw'), 'index.js'));
    msw = load(name) as Msw;
    const { setupServer } = load(`${name}/node`) as { setupServer(...handlers: unknown[]): Server };
    server = setupServer(...mswHandlers(msw.http, mock));
    server.listen({ onUnhandledRequest: 'error' });
  }, 180_000);
  afterEach(() => server.resetHandlers());
  afterAll(() => server?.close());

  test('pages get the fixtures of the mock, and what a test changes in it', async () => {
    mock.state.participations.push(participationFixture({ amount_string: '42.5', status: 'pending' }));
    const initial = await preload(causeway, (queries) => [queries.participations()]);
    const page = createElement(CausewayProvider, {
      ...{ client: causeway, initial },
      children: createElement(ParticipationsList),
    });
    expect(renderToString(page)).toMatch(/42\.5.*Accepted/s);
    mock.state.isMarketOpen = false;
    expect((await causeway.tokenized.tradingStatus({ symbol: 'AAPLon', side: 'buy' })).tradable).toBe(false);
  });

  test('a user is signed in, and signs out when the test says so', async () => {
    expect(await readSession()).toMatchObject({ signed_in: true, user: { email: 'investor@example.com' } });
    const token = await fetch('https://app.example/causeway/token');
    expect(await token.json()).toMatchObject({ access_token: expect.any(String) });
    mock.state.user = null;
    expect(await readSession()).toEqual({ signed_in: false });
    await expect(causeway.offers.list()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
    mock.state.user = { id: 'u2', email: 'second@example.com' };
    expect((await causeway.offers.list()).data).toHaveLength(3);
  });

  test('a handler of the test takes precedence, for example to test an outage', async () => {
    const outage = { type: 'api_error', code: 'unavailable', message: 'x', errors: {}, event_id: 'e1' };
    server.use(msw.http.get('*/v1/offers', async () => Response.json(outage, { status: 503 })));
    await expect(causeway.offers.list()).rejects.toMatchObject({ code: 'unavailable', eventId: 'e1' });
    server.resetHandlers();
    expect((await causeway.offers.list()).data).toHaveLength(3);
  });
});
