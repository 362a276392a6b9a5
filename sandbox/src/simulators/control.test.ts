import Type from 'typebox';
import { expect, test } from 'vitest';
import { createControl } from './control.ts';

test('calling an unknown control fails', async () => {
  const control = createControl('secret');
  control.on('known', Type.Object({}), async () => ({ done: true }));
  expect(await control.call('known', {})).toEqual({ done: true });
  await expect(control.call('unknown', {})).rejects.toThrow('no such control: unknown');
});
