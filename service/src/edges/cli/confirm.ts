import { createInterface } from 'node:readline/promises';
import { UsageError } from '../../kernel/errors.ts';

/** Asks on the terminal whether to apply the printed changes. Returns false if there is no terminal. */
export async function confirm(): Promise<boolean> {
  return process.stdin.isTTY && /^y(es)?$/i.test(await ask('Apply these changes? [y/N] '));
}

/**
 * Prints what a command will do, and asks the operator to type `name`, the name of what the command acts on. `--yes`
 * skips the question. Throws a `UsageError` if the operator types something else or there is no terminal.
 */
export async function confirmByName(preview: readonly string[], name: string, isYes = false): Promise<void> {
  console.error(preview.join('\n'));
  if (isYes) return;
  if (!process.stdin.isTTY)
    throw new UsageError('there is no terminal to confirm this on, so nothing was changed; pass --yes');
  if ((await ask(`Type ${name} to confirm: `)) !== name)
    throw new UsageError(`${name} was not typed, so nothing was changed`);
}

/** Returns the typed line without surrounding space, or an empty string if the input ends (Ctrl-D). */
async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // The promise of `question` never settles if the input ends.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  const answer = await Promise.race([lines.question(question), ended]);
  lines.close();
  return answer.trim();
}
