import { expect, test } from 'vitest';
import { createCooperativeQueue } from './cooperative-queue.ts';

test('runs tasks in order, and a failing task rejects only its own promise', async () => {
  const enqueue = createCooperativeQueue();
  const order: number[] = [];
  const results = await Promise.allSettled(
    [1, 2, 3].map((n) =>
      enqueue(() => {
        order.push(n);
        if (n === 2) throw new Error('two');
        return n;
      }),
    ),
  );
  expect(order).toEqual([1, 2, 3]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('yields to the event loop between slices', async () => {
  const enqueue = createCooperativeQueue(0);
  const order: string[] = [];
  const work = Promise.all(Array.from({ length: 3 }, (_, n) => enqueue(() => order.push(`work ${n}`))));
  setImmediate(() => {
    order.push('other');
    setImmediate(() => order.push('other'));
  });
  await work;
  // With a slice of 0 ms, one task runs per turn of the event loop.
  expect(order).toEqual(['work 0', 'other', 'work 1', 'other', 'work 2']);
});
