import { type ChildProcess, fork } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '@causeway/service/config.ts';
import type { DemoListen, DemoListening, DemoSettings, DemoStart } from '../../demo/server/settings.ts';

export type Demo = {
  url: string;
  /** From now on it answers. */
  open(settings: DemoSettings): void;
  stop(): Promise<void>;
};

type Settings = Pick<Config, 'dataDir' | 'host' | 'port'>;

const ENTRY = fileURLToPath(new URL('../../demo/bin/demo.mjs', import.meta.url));
const START_TIMEOUT = 20_000;
const STOP_TIMEOUT = 3_000;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;
/** Where a partner's app under development usually listens. */
const USUAL_PORT = 3000;

/**
 * A partner's app beside the sandbox, in a process of its own that ends with this one. The sandbox does without it: when
 * it ends by itself it is started again, after pauses that grow.
 */
export async function startDemo(config: Settings, say: (text: string) => void): Promise<Demo> {
  const host = isLoopback(config.host) ? 'localhost' : config.host;
  const file = join(config.dataDir, 'demo-port');
  const last = Number(await readFile(file, 'utf8').catch(() => 0));
  const ports = [...(last > 0 ? [last] : []), ...(config.port === 0 ? [] : [USUAL_PORT]), 0];
  let { child, port } = await begin({ listen: { host, ports } });
  await mkdir(config.dataDir, { recursive: true });
  await writeFile(file, String(port));

  let settings: DemoSettings | undefined;
  let isStopping = false;
  let pause = FIRST_PAUSE;
  let timer: NodeJS.Timeout | undefined;
  const tell = () => settings && send(child, { settings });
  const startAgain = async () => {
    try {
      ({ child, port } = await begin({ listen: { host, ports: [port] } }));
      if (isStopping) return stopChild(child);
      watch();
      tell();
    } catch (error) {
      say(`The demo app could not be started again: ${(error as Error).message}`);
      if (!isStopping) again();
    }
  };
  const again = () => {
    timer = setTimeout(() => void startAgain(), pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  };
  const watch = () => {
    const begun = performance.now();
    child.once('exit', (code, signal) => {
      if (isStopping) return;
      if (performance.now() - begun > LONGEST_PAUSE) pause = FIRST_PAUSE;
      say(`The demo app ended (${signal ?? `code ${code}`}); it is started again in ${pause / 1000} s.`);
      again();
    });
  };
  watch();
  return {
    url: `http://localhost:${port}`,
    open: (given) => {
      settings = given;
      tell();
    },
    stop: async () => {
      isStopping = true;
      clearTimeout(timer);
      await stopChild(child);
    },
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

async function begin(listen: DemoListen): Promise<{ child: ChildProcess; port: number }> {
  // It is a partner's: nothing of the service's settings is for it.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production' };
  const child = fork(ENTRY, [], { env, execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.on('error', () => undefined);
  send(child, listen);
  const { listening } = await firstMessage(child);
  return { child, port: listening.port };
}

function firstMessage(child: ChildProcess): Promise<DemoListening> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(new Error(`the demo app did not start within ${START_TIMEOUT} ms`));
    }, START_TIMEOUT);
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(new Error(`the demo app ended at its start with code ${code}`));
    });
    child.once('message', (message) => {
      clearTimeout(timer);
      done(message as DemoListening);
    });
  });
}

/** A process that has just ended is noticed by its exit. */
function send(child: ChildProcess, message: DemoListen | DemoStart): void {
  if (child.connected) child.send(message, () => undefined);
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
  await gone;
  clearTimeout(timer);
}
