import { expect, test } from 'vitest';
import { createDeadlines } from './deadline.ts';

test('work that takes too long is refused, quick work is passed on, and neither affects the other', async () => {
  const deadlines = createDeadlines(30, 5);
  const never = deadlines.watch(new Promise(() => {}));
  await expect(deadlines.watch(Promise.resolve('quick'))).resolves.toBe('quick');
  await expect(deadlines.watch(Promise.reject(new Error('own')))).rejects.toThrow('own');
  await expect(never).rejects.toMatchObject({
    code: 'upstream_unavailable',
    headers: { 'retry-after': '5' },
  });
  deadlines.stop();
});
