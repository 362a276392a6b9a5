import { expect, test } from 'vitest';
import { createCooperativeQueue } from './cooperative-queue.ts';

test('work runs in the order it came, and its failure is its own', async () => {
  const inTurn = createCooperativeQueue();
  const order: number[] = [];
  const results = await Promise.allSettled(
    [1, 2, 3].map((n) =>
      inTurn(() => {
        order.push(n);
        if (n === 2) throw new Error('two');
        return n;
      }),
    ),
  );
  expect(order).toEqual([1, 2, 3]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('other work gets its turn between slices', async () => {
  const inTurn = createCooperativeQueue(0);
  const order: string[] = [];
  const work = Promise.all(Array.from({ length: 3 }, (_, n) => inTurn(() => order.push(`work ${n}`))));
  setImmediate(() => {
    order.push('other');
    setImmediate(() => order.push('other'));
  });
  await work;
  // With a slice that is over at once, one piece runs in each turn of the loop.
  expect(order).toEqual(['work 0', 'other', 'work 1', 'other', 'work 2']);
});
