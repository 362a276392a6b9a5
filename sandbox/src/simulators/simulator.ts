import type { SimulatorClock } from './clock.ts';
import type { Control } from './control.ts';
import type { Listen } from './ports.ts';

/** What the outside world gives to each simulated provider in it. */
export type SimulatorEnvironment = {
  /** A folder of its own for its state. */
  folder: string;
  control: Control;
  clock: SimulatorClock;
  listen: Listen;
  /** What those before it have made ready, by their names. */
  started: Readonly<Record<string, unknown>>;
};

/** A started provider: `ready` is what the service must know to reach it. */
export type StartedSimulator<Ready> = { ready: Ready; stop(): Promise<void> };

export type StartSimulator<Ready> = (environment: SimulatorEnvironment) => Promise<StartedSimulator<Ready>>;
