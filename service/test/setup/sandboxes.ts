import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';

/** Stops the sandboxes that the workers started for several test files, which no single file can stop. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const sandboxes = await mkdtemp(join(tmpdir(), 'causeway-sandboxes-'));
  project.provide('sandboxes', sandboxes);
  return async () => {
    for (const name of readdirSync(sandboxes)) await killSandbox(join(sandboxes, name));
    await rm(sandboxes, { recursive: true, force: true });
  };
}

async function killSandbox(folder: string): Promise<void> {
  process.kill(-Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGKILL');
  // The database server notices the death of its owner and exits.
  while (existsSync(join(folder, 'postgres/postmaster.pid'))) await sleep(10);
}
