import { readItem, writeItem } from '../hooks/local-storage.ts';

const LEASE_MS = 15_000;
const RENEWAL_INTERVAL_MS = 3_000;

/**
 * Runs `work`, unless another page of this browser, or another component of this one, runs work of the same name. Throws
 * `purchase_elsewhere` then.
 */
export function runExclusively<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const { locks }: { locks?: LockManager } = navigator;
  return locks === undefined
    ? runWithLease(name, work)
    : locks.request(name, { ifAvailable: true }, (lock) => {
        if (lock === null) throw runsElsewhere();
        return work();
      });
}

/** For browsers without `navigator.locks`: a lease in the storage, which ends soon after its page is closed. */
async function runWithLease<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  if (Number(readItem(name)) > Date.now()) throw runsElsewhere();
  const renew = () => writeItem(name, String(Date.now() + LEASE_MS));
  renew();
  const timer = setInterval(renew, RENEWAL_INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    writeItem(name, null);
  }
}

export function runsElsewhere(): Error {
  return Object.assign(new Error('The purchase runs in another tab.'), { code: 'purchase_elsewhere' });
}
