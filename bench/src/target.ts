import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleFile } from '../../service/bin/bundle.mjs';

/** A server under load, and the request to send to it. */
export type Target = {
  url: string;
  headers?: Record<string, string>;
  method?: 'GET' | 'POST';
  body?: string;
};

// Runs the exit handlers on a signal too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const bundles = new Map<string, Promise<string>>();

/** Bundles the target as the service is bundled for production, so that no loader slows it down. */
async function bundle(name: string): Promise<string> {
  const path = await bundleFile(fileURLToPath(new URL(`./targets/${name}.ts`, import.meta.url)));
  process.once('exit', () => rmSync(dirname(path), { recursive: true, force: true }));
  return path;
}

/**
 * Starts `targets/NAME.ts` in a process of its own and returns the message that it sends when it is ready. The process
 * ends with this one.
 */
export async function startTarget<T = Target>(name: string, input: object = {}): Promise<T> {
  const path = bundles.get(name) ?? bundle(name);
  bundles.set(name, path);
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
  const child = fork(await path, [], { execArgv: [], stdio: [...stdio] });
  // The target that was started last is stopped first: it may use the database of an earlier one.
  process.prependOnceListener('exit', () => child.kill('SIGTERM'));
  child.send(input);
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`${name} exited with ${code}`);
  });
  const [message] = (await Promise.race([once(child, 'message'), failed])) as [T];
  failed.catch(() => {});
  child.unref();
  child.channel?.unref();
  return message;
}
