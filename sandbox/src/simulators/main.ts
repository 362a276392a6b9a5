import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { startChains } from './chains/simulator.ts';
import { type ClockSetting, createClock } from './clock.ts';
import { createControl } from './control.ts';
import { startDocuments } from './documents/simulator.ts';
import { startIdentity } from './identity/simulator.ts';
import { takeLock } from './lock.ts';
import { closeServer, createListen } from './ports.ts';
import type { StartSimulator } from './simulator.ts';
import { startSolana } from './solana/simulator.ts';
import { startVenue } from './venue/simulator.ts';

/** The simulators, in the order in which they start. The venue needs the chains, so it starts after them. */
const simulators = {
  chains: startChains,
  solana: startSolana,
  identity: startIdentity,
  documents: startDocuments,
  venue: startVenue,
} satisfies Record<string, StartSimulator<unknown>>;

type Simulators = typeof simulators;

/** State folders that are not named after their simulator. Renaming them would lose the state of existing sandboxes. */
const FOLDERS: Partial<Record<string, string>> = { documents: 'signing' };

/** The first message from the parent process. */
export type SimulatorsInit = { folder: string; secret: string; clock: ClockSetting };

/** The reply to `SimulatorsInit`, sent when all simulators are listening. */
export type SimulatorsReady = {
  control: string;
  simulators: { [Name in keyof Simulators]: Awaited<ReturnType<Simulators[Name]>>['ready'] };
};

export type SimulatorsMessage = { ready: SimulatorsReady } | { failed: string };

async function startAll({ folder, secret, clock: setting }: SimulatorsInit) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const clock = createClock(setting);
  const control = createControl(secret);
  const listen = await createListen(folder);
  const controlUrl = await listen('control', control.server);
  const unlock = await takeLock(join(folder, 'lock'), { url: controlUrl, instance: control.instance });
  control.on('clock/set', Type.Object({ now_ms: Type.Number(), running: Type.Boolean() }), clock.set);

  const stops: (() => Promise<void>)[] = [];
  const ready: Record<string, unknown> = {};
  for (const [name, start] of Object.entries(simulators)) {
    const stateFolder = join(folder, FOLDERS[name] ?? name);
    await mkdir(stateFolder, { recursive: true, mode: 0o700 });
    const started = await start({ folder: stateFolder, control, clock, listen, started: ready });
    stops.unshift(started.stop);
    ready[name] = started.ready;
  }
  const stop = async () => {
    for (const stopSimulator of stops) await stopSimulator();
    await unlock();
    await closeServer(control.server);
  };
  return { ready: { control: controlUrl, simulators: ready as SimulatorsReady['simulators'] }, stop };
}

function sendToParent(message: SimulatorsMessage): void {
  process.send?.(message);
}

function run(): void {
  let stop = async () => {};
  let stopping = false;
  const exit = async () => {
    if (stopping) return;
    stopping = true;
    await stop().catch(() => undefined);
    process.exit(0);
  };
  // Ignores Ctrl-C, which reaches the whole process group. The service still needs the simulators while it drains.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', exit);
  // The IPC channel closes when the parent exits, even if it is killed with SIGKILL.
  process.on('disconnect', exit);
  process.once('message', async (init) => {
    try {
      const started = await startAll(init as SimulatorsInit);
      stop = started.stop;
      sendToParent({ ready: started.ready });
    } catch (error) {
      sendToParent({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      process.exitCode = 1;
      process.disconnect?.();
    }
  });
}

run();
