/**
 * The time that the parent process sets the simulators' clock to. If `running` is false, the clock stands still until
 * it is set again.
 */
export type ClockSetting = { now_ms: number; running: boolean };

export type SimulatorClock = {
  /** Milliseconds since the epoch. */
  now(): number;
  set(setting: ClockSetting): Promise<void>;
  /** Adds a listener that `set` awaits after each change. */
  onChange(listener: () => Promise<void>): void;
};

export function createClock(initial: ClockSetting): SimulatorClock {
  const listeners: (() => Promise<void>)[] = [];
  let setting = initial;
  let setAt = Date.now();
  return {
    now: () => setting.now_ms + (setting.running ? Date.now() - setAt : 0),
    set: async (next) => {
      setting = next;
      setAt = Date.now();
      for (const listener of listeners) await listener();
    },
    onChange: (listener) => {
      listeners.push(listener);
    },
  };
}
