/** Lets one part of a node notify another part that it does not import. */
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
