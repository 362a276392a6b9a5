import { QueryClient } from '@tanstack/react-query';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Causeway, createCauseway } from '../client.ts';
import { queries } from '../queries.ts';
import { causewayQueries, queryClientCache } from './index.ts';

const OPTIONS = { baseUrl: 'http://service.test', accessToken: 't', retries: 0 };
const pii = (name: string) => Response.json({ full_legal_name: name });
const failure = () =>
  Response.json(
    { type: 'api_error', code: 'not_found', message: 'no', errors: {}, event_id: 'e' },
    { status: 404 },
  );

/** Creates a cache with its own query client. The cache's requests get `replies` in order. */
function setUp(...replies: (() => Response)[]) {
  const requested: string[] = [];
  const client = createCauseway({
    ...OPTIONS,
    fetch: async (url) => {
      requested.push(new URL(String(url)).pathname);
      return (replies[requested.length - 1] ?? failure)();
    },
  });
  const queryClient = new QueryClient();
  queryClient.mount();
  cleanups.push(() => {
    queryClient.unmount();
    queryClient.clear();
  });
  return { client, queryClient, requested, cache: queryClientCache(queryClient)(client) };
}
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
  vi.unstubAllGlobals();
});

const { key } = queries.pii();

test('hooks and the queries of the host share one request and one result', async () => {
  const { client, queryClient, requested, cache } = setUp(() => pii('Ada'));
  const notify = vi.fn();
  cleanups.push(cache.subscribe(queries.pii(), undefined, notify));
  expect(cache.getState(key)).toMatchObject({ data: undefined, isLoading: true });
  expect(await queryClient.fetchQuery(causewayQueries(client).pii())).toEqual({ full_legal_name: 'Ada' });
  await vi.waitFor(() => expect(notify).toHaveBeenCalled());
  const state = cache.getState(key);
  expect(state).toEqual({ data: { full_legal_name: 'Ada' }, error: undefined, isLoading: false });
  expect(cache.getState(key)).toBe(state);
  expect(requested).toEqual(['/v1/pii']);
});

test('a reload replaces the data even if it is the same, so that a hook can tell when it was loaded', async () => {
  const { cache, requested } = setUp(...Array(3).fill(() => pii('Ada')));
  cleanups.push(cache.subscribe(queries.pii(), undefined, () => undefined));
  await vi.waitFor(() => expect(cache.getState(key).data).toBeDefined());
  const { data } = cache.getState(key);
  cache.invalidate(() => true);
  await vi.waitFor(() => expect(cache.getState(key).data).not.toBe(data));
  expect([cache.getState(key).data, requested.length]).toEqual([data, 2]);
  const { data: reloaded } = cache.getState(key);
  await cache.refresh(queries.pii());
  expect(cache.getState(key).data).not.toBe(reloaded);
  expect([cache.getState(key).data, requested.length]).toEqual([data, 3]);
});

test('an invalidation reloads what is on screen, and only the matching resource', async () => {
  const { queryClient, requested, cache } = setUp(
    () => pii('before'),
    () => pii('after'),
  );
  cleanups.push(cache.subscribe(queries.pii(), undefined, () => undefined));
  await vi.waitFor(() => expect(cache.getState(key).data).toEqual({ full_legal_name: 'before' }));
  cache.invalidate((other) => other.startsWith('offers:'));
  await queryClient.invalidateQueries({ queryKey: ['causeway', 'offers'] });
  expect(requested).toHaveLength(1);
  cache.invalidate((other) => other.startsWith('pii:'));
  await vi.waitFor(() => expect(cache.getState(key).data).toEqual({ full_legal_name: 'after' }));
  expect(requested).toHaveLength(2);
});

test('a failed reload keeps the data and reports the error, without retries of its own', async () => {
  const { requested, cache } = setUp(() => pii('kept'), failure);
  cleanups.push(cache.subscribe(queries.pii(), undefined, () => undefined));
  await vi.waitFor(() => expect(cache.getState(key).data).toBeDefined());
  await cache.refresh(queries.pii());
  expect(cache.getState(key)).toMatchObject({ data: { full_legal_name: 'kept' }, isLoading: false });
  expect(cache.getState(key).error?.code).toBe('not_found');
  expect(requested).toHaveLength(2);
});

test('preloaded data is shown without a request, and never replaces data of the host', () => {
  vi.stubGlobal('window', {});
  const { queryClient, requested, cache } = setUp();
  cache.seed({ [key]: { full_legal_name: 'preloaded' } });
  expect(cache.getInitialState(key).data).toEqual({ full_legal_name: 'preloaded' });
  queryClient.setQueryData(['causeway', 'pii', '""'], { full_legal_name: 'host' });
  cache.seed({ [key]: { full_legal_name: 'preloaded' } });
  expect(cache.getState(key).data).toEqual({ full_legal_name: 'host' });
  cleanups.push(cache.subscribe(queries.pii(), undefined, () => undefined));
  expect(requested).toEqual([]);
});

describe('a query client that a server shares among users', () => {
  const [ada, bob] = ['ada', 'bob'].map((name) =>
    createCauseway({ ...OPTIONS, accessToken: name, fetch: async () => pii(name) }),
  ) as [Causeway, Causeway];

  test('is refused for a second user, unless the keys carry the user', () => {
    const queryClient = new QueryClient();
    queryClientCache(queryClient)(ada);
    queryClientCache(queryClient)(ada);
    expect(() => queryClientCache(queryClient)(bob)).toThrow(/two users.*per request/);
    queryClientCache(queryClient, { user: 'u2' })(bob);
    queryClientCache(new QueryClient())(bob);
    vi.stubGlobal('window', {});
    queryClientCache(queryClient)(bob);
  });

  test('keeps the results of users apart by key', async () => {
    const queryClient = new QueryClient();
    for (const [user, client] of [
      ['u1', ada],
      ['u2', bob],
    ] as const)
      await queryClient.fetchQuery(causewayQueries(client, { user }).pii());
    const shown = (user: string) => queryClientCache(queryClient, { user })(ada).getState(key).data;
    expect([shown('u1'), shown('u2'), shown('u3')]).toEqual([
      { full_legal_name: 'ada' },
      { full_legal_name: 'bob' },
      undefined,
    ]);
    expect(queryClient.getQueryData(['causeway', 'pii', '""'])).toBeUndefined();
    queryClientCache(queryClient, { user: 'u1' })(ada).invalidate((one) => one === key);
    expect(queryClient.getQueryState(['causeway', 'pii', '""', 'u1'])?.isInvalidated).toBe(true);
    queryClient.clear();
  });

  test('does not get the preloaded results of a page', () => {
    const queryClient = new QueryClient();
    const first = queryClientCache(queryClient)(ada);
    first.seed({ [key]: { full_legal_name: 'ada' } });
    expect(first.getInitialState(key).data).toEqual({ full_legal_name: 'ada' });
    expect(queryClientCache(queryClient)(ada).getInitialState(key).data).toBeUndefined();
    expect(queryClient.getQueryCache().getAll()).toEqual([]);
  });
});
