import { afterEach, expect, test, vi } from 'vitest';
import { createCauseway } from '../client.ts';
import { runFlow } from './flow.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('a callback of the host that throws or rejects is logged, and fails no flow', async () => {
  const log = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const onPhase = () => {
    throw new Error('onPhase');
  };
  const onTransaction = async () => {
    throw new Error('onTransaction');
  };
  const result = await runFlow({ onPhase, onTransaction }, 'one', async ({ enter, reportTransaction }) => {
    reportTransaction('0x1');
    enter('one');
    return 'bought';
  });
  expect(result).toBe('bought');
  await vi.waitFor(() => expect(log).toHaveBeenCalledTimes(3));
});

test('an aborted flow still stops before its next phase', async () => {
  const controller = new AbortController();
  const onPhase = () => controller.abort();
  const flow = runFlow({ signal: controller.signal, onPhase }, 'one', async ({ enter }) => enter('one'));
  await expect(flow).rejects.toMatchObject({ code: 'aborted' });
});

test('an error in onCall fails no request', async () => {
  const log = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const fetch = vi.fn(async () => Response.json({ id: 'p' }));
  const onCall = () => {
    throw new Error('onCall');
  };
  const causeway = createCauseway({ baseUrl: 'http://service.test', accessToken: 't', fetch, onCall });
  expect(await causeway.participations.get('p')).toEqual({ id: 'p' });
  expect(fetch).toHaveBeenCalledTimes(1);
  await vi.waitFor(() => expect(log).toHaveBeenCalledTimes(1));
});
