import { type ChildProcess, fork } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bundleFile } from '../../bin/bundle.mjs';

/** A program that a test can start as a process, any number of times, and kill. */
export type NodeProgram = { start(): ChildProcess; remove(): Promise<void> };

/** Bundles a program of this folder, because with a TypeScript loader each start would take seconds. */
export async function bundleNode(name: 'tokenized-node' | 'webhook-node'): Promise<NodeProgram> {
  const file = await bundleFile(`service/test/support/${name}.ts`);
  return {
    start: () => fork(file, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
    remove: () => rm(dirname(file), { recursive: true, force: true }),
  };
}
