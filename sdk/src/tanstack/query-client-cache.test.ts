import { QueryClient } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { createCauseway } from '../client.ts';
import { queries } from '../queries.ts';
import { causewayQueries, queryClientCache } from './index.ts';

const pii = (name: string) => Response.json({ full_legal_name: name });
const failure = () =>
  Response.json(
    { type: 'api_error', code: 'not_found', message: 'no', errors: {}, event_id: 'e' },
    { status: 404 },
  );

/** A cache on a query client of its own, whose requests get the replies in turn. */
function setUp(...replies: (() => Response)[]) {
  const requested: string[] = [];
  const client = createCauseway({
    ...{ baseUrl: 'http://service.test', accessToken: 't', retries: 0 },
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
  const { queryClient, requested, cache } = setUp();
  cache.seed({ [key]: { full_legal_name: 'preloaded' } });
  expect(cache.getInitialState(key).data).toEqual({ full_legal_name: 'preloaded' });
  queryClient.setQueryData(['causeway', 'pii', '""'], { full_legal_name: 'host' });
  cache.seed({ [key]: { full_legal_name: 'preloaded' } });
  expect(cache.getState(key).data).toEqual({ full_legal_name: 'host' });
  cleanups.push(cache.subscribe(queries.pii(), undefined, () => undefined));
  expect(requested).toEqual([]);
});
