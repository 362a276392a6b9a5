import { expect, test } from 'vitest';
import { createDeadlines } from './deadline.ts';

test('fails work that exceeds the timeout and passes on the outcome of other work', async () => {
  const deadlines = createDeadlines(30, 5);
  const hanging = deadlines.watch(new Promise(() => {}));
  await expect(deadlines.watch(Promise.resolve('fast'))).resolves.toBe('fast');
  await expect(deadlines.watch(Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  await expect(hanging).rejects.toMatchObject({
    code: 'upstream_unavailable',
    headers: { 'retry-after': '5' },
  });
  deadlines.stop();
});
