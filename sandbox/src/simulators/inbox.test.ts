import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Inboxes, startInboxes } from './inbox.ts';

const folder = mkdtempSync(join(tmpdir(), 'causeway-inbox-'));
let inboxes: Inboxes;
beforeAll(async () => {
  inboxes = await startInboxes(folder);
});
afterAll(async () => {
  await inboxes.stop();
  rmSync(folder, { recursive: true });
});

const post = (url: string, body: string) =>
  fetch(url, {
    method: 'POST',
    headers: { 'webhook-id': body },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(1_500),
  }).then(
    ({ status }) => status,
    ({ name }) => name,
  );

test('answers by its mode and keeps every request as received, oldest first, even across a restart', async () => {
  const { id, url } = inboxes.create('first');
  const inbox = () => inboxes.find(id);
  expect(await post(url, '{"n": 1}')).toBe(200);
  const answers = new Map<string, unknown>();
  for (const mode of ['error', 'gone', 'redirect', 'hang', 'drip'] as const) {
    inboxes.setMode(inbox() ?? expect.fail(), mode);
    answers.set(mode, await post(url, mode));
  }
  expect(Object.fromEntries(answers)).toEqual({
    ...{ error: 500, gone: 410, redirect: 302, hang: 'TimeoutError', drip: 'TimeoutError' },
  });
  expect(inbox()?.requests.map(({ body, headers }) => [body, headers['webhook-id']])).toEqual(
    ['{"n": 1}', 'error', 'gone', 'redirect', 'hang', 'drip'].map((body) => [body, body]),
  );
  const before = inbox();
  await inboxes.stop();
  inboxes = await startInboxes(folder);
  expect(inbox()).toEqual(before);
  expect(await post(`${url}x`, 'unknown')).toBe(404);
});

test('loses only the entry that a crash left incomplete', async () => {
  const { id, url } = inboxes.create('torn');
  expect(await post(url, 'before')).toBe(200);
  await inboxes.stop();
  appendFileSync(join(folder, `${id}.jsonl`), '{"request":{"at":"20');
  for (const bodies of [['before'], ['before', 'after']]) {
    inboxes = await startInboxes(folder);
    expect(inboxes.find(id)?.requests.map(({ body }) => body)).toEqual(bodies);
    if (bodies.length === 1) {
      expect(await post(url, 'after')).toBe(200);
      await inboxes.stop();
    }
  }
});
