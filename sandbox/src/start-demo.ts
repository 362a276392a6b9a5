import { type ChildProcess, fork } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '@causeway/service/kernel/config/config.ts';
import { isLoopback } from '@causeway/service/kernel/loopback.ts';
import type { DemoListen, DemoListening, DemoSettings, DemoStart } from '../../demo/server/settings.ts';
import { stopChild } from './stop-child.ts';

export type Demo = {
  url: string;
  /** Passes the partner's settings to the app, which then starts serving requests. */
  configure(settings: DemoSettings): void;
  stop(forceAfterMs: number): Promise<void>;
};

type Settings = Pick<Config, 'dataDir' | 'host' | 'port'>;

const ENTRY = fileURLToPath(new URL('../../demo/bin/demo.mjs', import.meta.url));
const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 3_000;
const MIN_RESTART_DELAY_MS = 500;
const MAX_RESTART_DELAY_MS = 30_000;
/** The usual port for a partner's app in development. */
const USUAL_PORT = 3000;

/**
 * Starts the demo app in a child process. The child exits when this process exits. If the child exits earlier, it is
 * restarted with exponential backoff. When the sandbox is restarted, the app gets the same port again if the port is
 * free.
 */
export async function startDemo(config: Settings, print: (text: string) => void): Promise<Demo> {
  const host = isLoopback(config.host) ? 'localhost' : config.host;
  const portFile = join(config.dataDir, 'demo-port');
  const lastPort = Number(await readFile(portFile, 'utf8').catch(() => 0));
  const ports = [...(lastPort > 0 ? [lastPort] : []), ...(config.port === 0 ? [] : [USUAL_PORT]), 0];
  let { child, port } = await startChild({ listen: { host, ports } });
  await mkdir(config.dataDir, { recursive: true });
  await writeFile(portFile, String(port));

  let settings: DemoSettings | undefined;
  let isStopping = false;
  let restartDelay = MIN_RESTART_DELAY_MS;
  let restartTimer: NodeJS.Timeout | undefined;
  const sendSettings = () => settings && send(child, { settings });
  const restart = async () => {
    try {
      ({ child, port } = await startChild({ listen: { host, ports: [port] } }));
      if (isStopping) return stopChild(child, STOP_TIMEOUT_MS);
      watchExit();
      sendSettings();
    } catch (error) {
      print(`The demo app could not be restarted: ${(error as Error).message}`);
      if (!isStopping) scheduleRestart();
    }
  };
  const scheduleRestart = () => {
    restartTimer = setTimeout(() => void restart(), restartDelay);
    restartDelay = Math.min(restartDelay * 2, MAX_RESTART_DELAY_MS);
  };
  const watchExit = () => {
    const startedAt = performance.now();
    child.once('exit', (code, signal) => {
      if (isStopping) return;
      if (performance.now() - startedAt > MAX_RESTART_DELAY_MS) restartDelay = MIN_RESTART_DELAY_MS;
      print(`The demo app exited (${signal ?? `code ${code}`}). Restarting in ${restartDelay / 1000} s.`);
      scheduleRestart();
    });
  };
  watchExit();
  return {
    url: `http://localhost:${port}`,
    configure: (given) => {
      settings = given;
      sendSettings();
    },
    stop: async (forceAfterMs) => {
      isStopping = true;
      clearTimeout(restartTimer);
      await stopChild(child, Math.min(forceAfterMs, STOP_TIMEOUT_MS));
    },
  };
}

async function startChild(listen: DemoListen): Promise<{ child: ChildProcess; port: number }> {
  // A minimal environment: a partner's app must not see the service's settings.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production' };
  const child = fork(ENTRY, [], { env, execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.on('error', () => undefined);
  send(child, listen);
  const { listening } = await firstMessage(child);
  return { child, port: listening.port };
}

function firstMessage(child: ChildProcess): Promise<DemoListening> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the demo app did not start within ${START_TIMEOUT_MS} ms`));
    }, START_TIMEOUT_MS);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the demo app exited with code ${code} during startup`));
    });
    child.once('message', (message) => {
      clearTimeout(timer);
      resolve(message as DemoListening);
    });
  });
}

/**
 * Sends a message to the child. Ignores failures: they mean that the child has just exited, and its exit is handled
 * elsewhere.
 */
function send(child: ChildProcess, message: DemoListen | DemoStart): void {
  if (child.connected) child.send(message, () => undefined);
}
