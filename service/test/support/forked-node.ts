import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bundleFile } from '../../bin/bundle.mjs';
import { TEST_SECRET } from '../setup/secret.ts';
import type { EventNodeSettings } from './event-node.ts';

/** A program that a test can start as a process any number of times, and kill. */
export type NodeProgram = {
  /** `env`: variables in addition to those of this process. */
  start(env?: Record<string, string>): ChildProcess;
  remove(): Promise<void>;
};

/** Bundles a program from this folder, because each start would take seconds with a TypeScript loader. */
export async function bundleNode(name: 'tokenized-node' | 'event-node'): Promise<NodeProgram> {
  const file = await bundleFile(`service/test/support/${name}.ts`);
  return {
    start: (env = {}) =>
      fork(file, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env: { ...process.env, ...env } }),
    remove: () => rm(dirname(file), { recursive: true, force: true }),
  };
}

/** Starts a node of the program `event-node`, which may send webhooks to loopback, and waits until it is ready. */
export async function startEventNode(
  program: NodeProgram,
  databaseUrl: string,
  { serve, env }: { serve?: EventNodeSettings['serve']; env?: Record<string, string> } = {},
): Promise<ChildProcess> {
  const child = program.start(env);
  const settings: EventNodeSettings = {
    env: {
      ...{ CAUSEWAY_SECRET: TEST_SECRET.toString('base64'), WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128' },
      ...{ MAX_EVENT_LOOP_LAG_MS: '60000', MAX_POOL_WAIT_MS: '60000' },
    },
    databaseUrl,
    ...(serve !== undefined && { serve }),
  };
  child.send(settings);
  await once(child, 'message');
  return child;
}

export async function killNode(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
