import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Target = {
  url: string;
  headers?: Record<string, string>;
  method?: 'GET' | 'POST';
  body?: string;
  /** Paths to request in turn. Default: the path of `url`. */
  paths?: string[];
  /** Bearer tokens to send in turn, in addition to `headers`. */
  tokens?: string[];
};

export type Started<T = Target> = { target: T; pid: number; child: ChildProcess; stop(): Promise<void> };

/** The util-linux tool that pins a process to specific cores. */
const TASKSET = '/usr/bin/taskset';

/**
 * Pins this process to a core, so that a target can have another core to itself. Returns a function that undoes this, or
 * undefined if the machine has only one core or no `taskset`.
 */
export function pinToCore(core: number): (() => void) | undefined {
  if (availableParallelism() === 1 || !existsSync(TASKSET)) return undefined;
  const set = (cores: string) => execFileSync(TASKSET, ['-acp', cores, String(process.pid)]);
  const former = String(execFileSync(TASKSET, ['-cp', String(process.pid)])).split(': ')[1] ?? '';
  set(String(core));
  return () => void set(former.trim());
}

const bundled = new Map<string, Promise<string>>();
/** What to do when this process exits. */
const cleanups = new Set<() => void>();
process.once('exit', () => {
  for (const clean of cleanups) clean();
});

/**
 * Bundles `file` the way the service is bundled for production, and returns the path of the bundle. Without a bundle,
 * the TypeScript loader would add a call wherever a function is created, which would distort the CPU times. The bundle
 * is removed when this process exits.
 */
function bundleTarget(file: string): Promise<string> {
  const known = bundled.get(file);
  if (known !== undefined) return known;
  const bundle = async () => {
    // Computes the bundler's import path. If the path were a literal, any target that starts other targets would have
    // the bundler in its own bundle.
    const bundler = new URL('../../service/bin/bundle.mjs', import.meta.url).href;
    const { bundleFile } = (await import(bundler)) as typeof import('../../service/bin/bundle.mjs');
    const path = await bundleFile(fileURLToPath(new URL(file, import.meta.url)));
    cleanups.add(() => rmSync(dirname(path), { recursive: true, force: true }));
    return path;
  };
  const path = bundle();
  bundled.set(file, path);
  return path;
}

/**
 * Starts `file` as a child process and waits until the child sends its target. If `core` is given, the child runs only
 * on that core.
 */
export async function startTarget<T = Target>(
  file: string,
  args: string[] = [],
  core?: number,
): Promise<Started<T>> {
  const child = fork(await bundleTarget(file), args, {
    ...(core === undefined
      ? { execArgv: [] }
      : { execPath: TASKSET, execArgv: ['-c', String(core), process.execPath] }),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const end = () => child.kill('SIGTERM');
  cleanups.add(end);
  child.once('exit', () => cleanups.delete(end));
  const failed = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`${file} exited with ${code}`)),
  );
  const [target] = (await Promise.race([once(child, 'message'), failed])) as [T];
  failed.catch(() => {});
  return {
    target,
    pid: Number(child.pid),
    child,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
