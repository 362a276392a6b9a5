import { readItem, writeItem } from '../hooks/local-storage.ts';

/** Longer than the minute between two timers of a tab in the background. */
const LEASE_MS = 120_000;
const RENEWAL_INTERVAL_MS = 3_000;
/** How long other pages may take to see a change of the storage. */
const PROPAGATION_MS = 100;

/** Runs until its result is known. It reports the wallet's prompts to `onSend`. */
type Work<Result> = (onSend: (answer: Promise<unknown>) => void) => Promise<Result>;

/**
 * Runs `work`, unless another page of this browser, or another component of this one, runs work of the same name. Throws
 * `purchase_elsewhere` then. A prompt may outlive the work: the name stays taken until its owner has decided.
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
 * For browsers without `navigator.locks`, and pages that may not use it: a lease in the storage, which ends at most `LEASE_MS`
 * after its page was closed. Without storage, the work runs nonetheless.
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
  return Object.assign(new Error('The purchase runs in another tab.'), { code: 'purchase_elsewhere' });
}
