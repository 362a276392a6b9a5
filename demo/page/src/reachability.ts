import type { Call } from '@causeway/sdk';
import { createStore, useStore } from './store.ts';

export type Reachability = {
  isReachable: boolean;
  /** How many times the service has become reachable again. */
  recoveries: number;
};

const FIRST_RETRY_DELAY_MS = 1_000;
const MAX_RETRY_DELAY_MS = 8_000;
const HEALTH_TIMEOUT_MS = 4_000;
const store = createStore<Reachability>({ isReachable: true, recoveries: 0 });
let isChecking = false;
let serviceUrl = '';

export function useReachability(): Reachability {
  return useStore(store);
}

export function watchService(baseUrl: string): void {
  serviceUrl = baseUrl;
  addEventListener('online', () => void checkUntilReachable());
  addEventListener('offline', () => void checkUntilReachable());
}

/**
 * If a call got no response, checks whether the service is reachable. A missing response alone does not prove an
 * outage, because the page may have aborted the call itself.
 */
export function reportCall({ status }: Call): void {
  if (status === 0) void checkUntilReachable();
  else if (!store.get().isReachable) markReachable();
}

/** Fetches from the demo's own server. If that fails, checks whether the service is reachable. */
export const fetchAndReport: typeof fetch = async (...request) => {
  try {
    return await fetch(...request);
  } catch (error) {
    void checkUntilReachable();
    throw error;
  }
};

async function checkUntilReachable(): Promise<void> {
  if (isChecking) return;
  isChecking = true;
  for (
    let delay = FIRST_RETRY_DELAY_MS;
    !(await isHealthy());
    delay = Math.min(delay * 1.5, MAX_RETRY_DELAY_MS)
  ) {
    store.set({ ...store.get(), isReachable: false });
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
  isChecking = false;
  if (!store.get().isReachable) markReachable();
}

/** Checks once immediately, in addition to the scheduled retries. */
export async function checkNow(): Promise<void> {
  if (await isHealthy()) markReachable();
}

function markReachable(): void {
  store.set({ isReachable: true, recoveries: store.get().recoveries + 1 });
}

/** Returns true for any response, because its status and body are not readable across origins. */
async function isHealthy(): Promise<boolean> {
  const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
  const response = await fetch(`${serviceUrl}/health`, { mode: 'no-cors', cache: 'no-store', signal }).catch(
    () => null,
  );
  return response !== null;
}
