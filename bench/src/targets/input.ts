import { once } from 'node:events';

/** In a target, returns the input that `startTarget` was given. */
export async function readInput<T>(): Promise<T> {
  const [input] = await once(process, 'message');
  return input as T;
}
