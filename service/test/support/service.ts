import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../bin/causeway.mjs', import.meta.url));

export type Service = {
  url: string;
  output(): string;
  child: ChildProcess;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

/** Starts the service as a process group of its own on a free port, and waits until it reports that it is ready. */
export async function startService(env: Record<string, string>): Promise<Service> {
  const child = spawn(process.execPath, [bin, 'serve'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', CAUSEWAY_DEMO: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      output += data;
    });
  const exited = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const found = /Causeway is ready[\s\S]*?API\s+(http\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    exited.then(([code]) => reject(new Error(`exited with ${code}: ${output}`)));
  });
  return {
    url,
    child,
    output: () => output,
    stop: async (signal = 'SIGTERM') => {
      // SIGKILL goes to the whole group, other signals only to the main process.
      process.kill(signal === 'SIGKILL' ? -Number(child.pid) : Number(child.pid), signal);
      const [code] = await exited;
      return code;
    },
  };
}
