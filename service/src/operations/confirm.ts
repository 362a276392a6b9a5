import { createInterface } from 'node:readline/promises';

/** Asks on the terminal whether to apply the printed changes. Returns false if there is no terminal. */
export async function confirm(): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question('Apply these changes? [y/N] ');
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}
