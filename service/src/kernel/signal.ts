/** Lets one module notify another without importing it. */
export type Signal = { emit(): void; on(handler: () => void): void };

export function createSignal(): Signal {
  const handlers: (() => void)[] = [];
  return {
    emit: () => {
      for (const handler of handlers) handler();
    },
    on: (handler) => void handlers.push(handler),
  };
}
