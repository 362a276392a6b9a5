import type { Control } from './control.ts';
import type { OutsideClock } from './outside-clock.ts';
import type { Listen } from './ports.ts';

/** What the outside world gives to each simulated provider in it. */
export type PartEnvironment = {
  /** A folder of its own for its state. */
  folder: string;
  control: Control;
  clock: OutsideClock;
  listen: Listen;
  /** What those before it have made ready, by their names. */
  started: Readonly<Record<string, unknown>>;
};

/** A started provider: `ready` is what the service must know to reach it. */
export type StartedPart<Ready> = { ready: Ready; stop(): Promise<void> };

export type StartPart<Ready> = (environment: PartEnvironment) => Promise<StartedPart<Ready>>;
