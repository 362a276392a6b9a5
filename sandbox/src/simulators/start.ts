import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stopChild } from '../stop-child.ts';
import type { ChainsControls } from './chains/simulator.ts';
import type { ClockSetting } from './clock.ts';
import { ControlError } from './control.ts';
import type { DocumentControls } from './documents/simulator.ts';
import type { IdentityControls } from './identity/simulator.ts';
import type { SimulatorsInit, SimulatorsMessage, SimulatorsReady } from './main.ts';
import type { SolanaControls } from './solana/simulator.ts';
import type { VenueControls } from './venue/simulator.ts';

/** The input and output of each control (a command to a simulator), by name. A new simulator adds its controls here. */
export type SimulatorControls = ChainsControls &
  SolanaControls &
  IdentityControls &
  DocumentControls &
  VenueControls & { 'clock/set': { input: ClockSetting; output: unknown } };

/** The client for the simulators' control server. */
export type SimulatorControl = {
  url: string;
  secret: string;
  call<Name extends keyof SimulatorControls>(
    name: Name,
    input: SimulatorControls[Name]['input'],
  ): Promise<SimulatorControls[Name]['output']>;
};

export type Simulators = SimulatorsReady['simulators'] & {
  control: SimulatorControl;
  pid: number;
  /** Resolves when the process has exited. */
  stop(forceAfterMs?: number): Promise<void>;
  /** Resolves with the exit code, whether the process was stopped or exited on its own. */
  exited: Promise<number | null>;
};

export type SimulatorsOptions = {
  dataDir: string;
  clock: ClockSetting;
};

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;
const CALL_TIMEOUT_MS = 60_000;
const ENTRY = fileURLToPath(new URL('../../bin/simulators.mjs', import.meta.url));

/** Starts all simulators in a child process, which exits when this process exits. */
export async function startSimulators({ dataDir, clock }: SimulatorsOptions): Promise<Simulators> {
  const secret = randomBytes(32).toString('base64url');
  const child = fork(ENTRY, [], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  const init: SimulatorsInit = { folder: resolve(dataDir, 'outside'), secret, clock };
  child.send(init);
  const ready = await waitUntilReady(child);
  return {
    ...ready.simulators,
    control: {
      url: ready.control,
      secret,
      call: (name, input) => callControl(ready.control, secret, name, input),
    },
    pid: child.pid ?? 0,
    stop: (forceAfterMs = STOP_TIMEOUT_MS) => stopChild(child, forceAfterMs),
    exited,
  };
}

function waitUntilReady(child: ChildProcess): Promise<SimulatorsReady> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(new Error(`the simulators did not start within ${START_TIMEOUT_MS} ms`));
    }, START_TIMEOUT_MS);
    child.once('exit', (code) => fail(new Error(`the simulators exited with code ${code} during startup`)));
    child.once('message', (message: SimulatorsMessage) => {
      clearTimeout(timer);
      if ('ready' in message) done(message.ready);
      else fail(new Error(`the simulators could not start: ${message.failed}`));
    });
  });
}

async function callControl<Name extends keyof SimulatorControls>(
  url: string,
  secret: string,
  name: Name,
  input: SimulatorControls[Name]['input'],
): Promise<SimulatorControls[Name]['output']> {
  const response = await fetch(`${url}/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  });
  const body = (await response.json()) as Record<string, unknown>;
  if (response.ok) return body as SimulatorControls[Name]['output'];
  throw new ControlError(String(body.code), String(body.message), body.details as Record<string, unknown>);
}
