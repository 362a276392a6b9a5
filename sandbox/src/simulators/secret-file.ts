import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

/** Returns the secret stored at `path`. On first use, creates the secret in a file that only its owner can read. */
export async function readOrCreateSecret(path: string): Promise<string> {
  const stored = await readFile(path, 'utf8').catch(() => '');
  if (stored !== '') return stored;
  const secret = randomBytes(16).toString('hex');
  await writeFile(path, secret, { mode: 0o600 });
  return secret;
}
