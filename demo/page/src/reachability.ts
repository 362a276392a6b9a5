import type { Call } from '@causeway/sdk';
import { createStore, useStore } from './store.ts';

export type Reach = { isReachable: boolean /** Counts the times it came back. */; returns: number };

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 8_000;
const store = createStore<Reach>({ isReachable: true, returns: 0 });
let checking = false;
let base = '';

export function useReach(): Reach {
  return useStore(store);
}

export function watchService(baseUrl: string): void {
  base = baseUrl;
  addEventListener('online', () => void check());
  addEventListener('offline', () => void check());
}

/** A call without a reply may have been cut off by the page itself, so the service is asked whether it lives. */
export function noticeCall({ status }: Call): void {
  if (status === 0) void check();
  else if (!store.get().isReachable) came();
}

/** For requests to our own server, which is as good a witness. */
export const noticingFetch: typeof fetch = async (...request) => {
  try {
    return await fetch(...request);
  } catch (error) {
    void check();
    throw error;
  }
};

/** Asks until there is an answer. */
export async function check(): Promise<void> {
  if (checking) return;
  checking = true;
  for (let pause = FIRST_PAUSE; !(await answers()); pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    store.set({ ...store.get(), isReachable: false });
    await new Promise((done) => setTimeout(done, pause));
  }
  checking = false;
  if (!store.get().isReachable) came();
}

/** At once, for who presses the button. */
export async function checkNow(): Promise<void> {
  if (await answers()) came();
}

function came(): void {
  store.set({ isReachable: true, returns: store.get().returns + 1 });
}

/** Any reply will do: what it says is not for other origins to read. */
async function answers(): Promise<boolean> {
  const signal = AbortSignal.timeout(4_000);
  const reply = await fetch(`${base}/health`, { mode: 'no-cors', cache: 'no-store', signal }).catch(
    () => null,
  );
  return reply !== null;
}
