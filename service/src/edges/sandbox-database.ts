import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Opens the sandbox's database in `dataDir` while the service may or may not be running. Returns undefined if there is
 * none. Loads the sandbox package only if there is one, because the published package has no sandbox.
 */
export async function openSandboxDatabase(
  dataDir: string,
): Promise<{ url: string; stop(): Promise<void> } | undefined> {
  if (!existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) return undefined;
  return (await import('@causeway/sandbox/postgres/server.ts')).openPostgres(dataDir);
}
