import { PassThrough } from 'node:stream';
import { vi } from 'vitest';

/**
 * Makes standard input a terminal on which somebody types `text` and then ends the input. If `text` is null, makes
 * standard input an empty pipe. `vi.restoreAllMocks` undoes this.
 */
export function typeOnTerminal(text: string | null): void {
  const input = Object.assign(new PassThrough(), { isTTY: text !== null });
  input.end(text ?? '');
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as never);
}
