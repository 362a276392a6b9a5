import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runExclusively } from './run-exclusively.ts';

/** Local storage, shared by the pages of a browser without `navigator.locks`. The pages store their leases here. */
const items = new Map<string, string>();
beforeEach(() => {
  items.clear();
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const inFuture = () => Date.now() + 60_000;

test('the owner of a lease releases it, even if its work fails', async () => {
  expect(await runExclusively('sale', async () => items.has('sale'))).toBe(true);
  expect(items.has('sale')).toBe(false);
  const failed = runExclusively('sale', () => Promise.reject(new Error('no')));
  await expect(failed).rejects.toThrow('no');
  expect(items.has('sale')).toBe(false);
});

test('the lease of another page stops the work, and stays', async () => {
  const lease = `another-page ${inFuture()}`;
  items.set('sale', lease);
  const work = vi.fn();
  await expect(runExclusively('sale', work)).rejects.toMatchObject({ code: 'purchase_elsewhere' });
  expect([work.mock.calls.length, items.get('sale')]).toEqual([0, lease]);
});

test('an expired lease does not stop the work', async () => {
  items.set('sale', `closed-page ${Date.now() - 1}`);
  expect(await runExclusively('sale', async () => 'done')).toBe('done');
});

test('a page whose lease another page has taken over does not release that lease', async () => {
  const lease = `another-page ${inFuture()}`;
  await runExclusively('sale', async () => items.set('sale', lease));
  expect(items.get('sale')).toBe(lease);
});

test('of two pages that start at once, one runs', async () => {
  let finish: (result: string) => void = () => undefined;
  const work = new Promise<string>((resolve) => {
    finish = resolve;
  });
  const run = () => runExclusively('sale', () => work).catch(({ code }) => code);
  const pages = [run(), run()];
  expect(await Promise.race(pages)).toBe('purchase_elsewhere');
  finish('done');
  expect((await Promise.all(pages)).sort()).toEqual(['done', 'purchase_elsewhere']);
});

test('the name stays taken until the owner has decided on a prompt that outlives the work', async () => {
  let decide: () => void = () => undefined;
  const prompt = new Promise<void>((_, reject) => {
    decide = () => reject(new Error('declined'));
  });
  const left = runExclusively('swap', async (onSend) => {
    onSend(prompt);
    throw new Error('aborted');
  });
  await expect(runExclusively('swap', async () => 'second')).rejects.toMatchObject({
    code: 'purchase_elsewhere',
  });
  decide();
  await expect(left).rejects.toThrow('aborted');
  expect(await runExclusively('swap', async () => 'second')).toBe('second');
});
