import { createStore, useStore } from '../store.ts';

const store = createStore(false);

export function useIsPanelOpen(): boolean {
  return useStore(store);
}

/** Opens the sandbox panel from anywhere on the page. */
export const openPanel = () => store.set(true);
export const closePanel = () => store.set(false);
