import type { SimulatorClock } from './clock.ts';
import type { Control } from './control.ts';
import type { Listen } from './ports.ts';

/** The arguments that each simulator is started with. */
export type SimulatorEnvironment = {
  /** The folder for this simulator's state. */
  folder: string;
  control: Control;
  clock: SimulatorClock;
  listen: Listen;
  /** The `ready` values of the simulators that were started before this one, by name. */
  started: Readonly<Record<string, unknown>>;
};

/** A started simulator. `ready` has the values that the service needs to connect to it. */
export type StartedSimulator<Ready> = { ready: Ready; stop(): Promise<void> };

export type StartSimulator<Ready> = (environment: SimulatorEnvironment) => Promise<StartedSimulator<Ready>>;
