import { readItem, writeItem } from '../hooks/local-storage.ts';

/** Longer than a minute, because browsers may run the timers of a background tab only once a minute. */
const LEASE_MS = 120_000;
const RENEWAL_INTERVAL_MS = 3_000;
/** How long other pages may take to see a change in the storage. */
const PROPAGATION_MS = 100;

/** The work to run. It calls `onSend` with the promise of the owner's answer to a wallet prompt. */
type Work<Result> = (onSend: (answer: Promise<unknown>) => void) => Promise<Result>;

/**
 * Runs `start`, or throws `purchase_elsewhere` if another page of this browser, or another component of this page, is
 * running work under the same name. A wallet prompt may outlive the work, so the name stays taken until the owner has
 * answered the prompt.
 */
export async function runExclusively<Result>(name: string, start: Work<Result>): Promise<Result> {
  const work = async () => {
    let prompt = undefined as Promise<unknown> | undefined;
    try {
      return await start((answer) => {
        prompt = answer;
      });
    } finally {
      await prompt?.catch(() => undefined);
    }
  };
  let isAnswered = false;
  try {
    return await navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      isAnswered = true;
      if (lock === null) throw runsElsewhere();
      return work();
    });
  } catch (error) {
    if (isAnswered) throw error;
    return runWithLease(name, work);
  }
}

/**
 * Runs the work under a lease in local storage, for browsers without `navigator.locks` and pages that may not use it.
 * The lease expires at most `LEASE_MS` after its page is closed. If local storage is blocked, the work runs without a
 * lease.
 */
async function runWithLease<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const owner = crypto.randomUUID();
  const isTaken = () => {
    const [holder, expiresAt] = (readItem(name) ?? '').split(' ');
    return holder !== owner && Number(expiresAt) > Date.now();
  };
  const renew = () => {
    if (!isTaken()) writeItem(name, `${owner} ${Date.now() + LEASE_MS}`);
  };
  renew();
  // If several pages have written at once, the last one has the lease.
  await new Promise((resolve) => setTimeout(resolve, PROPAGATION_MS));
  if (isTaken()) throw runsElsewhere();
  const timer = setInterval(renew, RENEWAL_INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (!isTaken()) writeItem(name, null);
  }
}

export function runsElsewhere(): Error {
  return Object.assign(new Error('The purchase is running in another tab.'), { code: 'purchase_elsewhere' });
}
