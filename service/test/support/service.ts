import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = fileURLToPath(new URL('../../bin/causeway.mjs', import.meta.url));

export type Service = {
  url: string;
  output(): string;
  child: ChildProcess;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Kills a service whose data is no longer needed, and waits until its database server has exited. */
  discard(): Promise<void>;
};

/** Starts the service in its own process group on a free port, and waits until it reports that it is ready. */
export async function startService(
  env: Record<string, string>,
  [command, ...args]: [string, ...string[]] = [process.execPath, bin, 'serve'],
): Promise<Service> {
  const child = spawn(command, args, {
    cwd: root,
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
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    // SIGKILL goes to the whole group, other signals only to the main process.
    process.kill(signal === 'SIGKILL' ? -Number(child.pid) : Number(child.pid), signal);
    const [code] = await exited;
    return code;
  };
  return {
    url,
    child,
    output: () => output,
    stop,
    discard: async () => {
      await stop('SIGKILL');
      const lockFile = join(env.CAUSEWAY_DATA ?? '', 'postgres/postmaster.pid');
      while (existsSync(lockFile)) await sleep(10);
    },
  };
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder that holds the data of the sandboxes that workers share between their test files. */
    sandboxes: string;
  }
}

let shared: Promise<{ url: string; dataDir: string }> | undefined;

/**
 * Returns the sandbox that all test files of this worker share if they only use one. It is stopped after the run, see
 * `setup/sandboxes.ts`. Tests create their own users, and restore the controls that they change.
 */
export function sharedSandbox(): Promise<{ url: string; dataDir: string }> {
  shared ??= startShared();
  return shared;
}

async function startShared() {
  const dataDir = mkdtempSync(join(inject('sandboxes'), 'shared-'));
  const { url, child } = await startService({
    CAUSEWAY_DATA: dataDir,
    ...{ RATE_LIMIT_SIGN_IN: '10000', RATE_LIMIT_OAUTH_TOKEN: '10000', RATE_LIMIT_API: '60000' },
  });
  writeFileSync(join(dataDir, 'pid'), String(child.pid));
  return { url, dataDir };
}

/** Runs one command to completion. `text` is standard output, or standard error if the command fails. */
export function runCauseway(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number; text: string }> {
  return promisify(execFile)(process.execPath, [bin, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    timeout: 50_000,
  }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    (error) => ({ code: error.code as number, text: String(error.stderr) }),
  );
}

/** The settings of a production node on this machine. Its providers do not respond. */
export function productionSettings(databaseUrl: string): Record<string, string> {
  return {
    CAUSEWAY_PROFILE: 'production',
    SANCTIONS: 'none',
    DATABASE_URL: databaseUrl,
    CAUSEWAY_SECRET: Buffer.alloc(32, 7).toString('base64'),
    PUBLIC_URL: 'https://invest.example',
    METRICS_PORT: '0',
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'Invest <no-reply@invest.example>',
    SUMSUB_APP_TOKEN: 'prd:token',
    SUMSUB_SECRET: 'secret',
    SUMSUB_WEBHOOK_SECRET: 'secret',
    DOCUSEAL_URL: 'https://sign.example/api',
    DOCUSEAL_API_KEY: 'key',
    DOCUSEAL_TEMPLATE_W8_BEN: '1',
    DOCUSEAL_TEMPLATE_W8_BEN_E: '2',
    DOCUSEAL_WEBHOOK_SECRET: 'whsec_x',
  };
}
