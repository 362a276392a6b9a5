import { readItem, writeItem } from '../hooks/local-storage.ts';

/** Longer than a minute, because a background tab's timer may renew its lease only once a minute. */
const LEASE_MS = 120_000;
const RENEWAL_INTERVAL_MS = 3_000;
/** How long other pages may take to see a change in the storage. */
const PROPAGATION_MS = 100;

/**
 * The work to run. When it opens a wallet prompt, it calls `onSend` with a promise that settles when the owner answers.
 */
type Work<Result> = (onSend: (answer: Promise<unknown>) => void) => Promise<Result>;

/**
 * Runs `start` while holding the lock `name`. Throws `purchase_elsewhere` if another page in this browser, or another
 * component on this page, holds the lock. If a wallet prompt is still open when `start` ends, keeps the lock until the
 * owner has answered.
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
 * Runs the work under a lease in local storage, for pages without `navigator.locks`. If the page is closed, the lease
 * expires within `LEASE_MS`. If local storage is blocked, the work runs without a lease.
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
  // If several pages write a lease at the same time, the last write wins. Waits until all pages can see that write.
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

/**
 * Returns the name of the lock to hold while a wallet buys from swap offers or revokes approvals for them. A wallet has
 * one lock for all swap offers, because offers with the same contract share an allowance.
 */
export function swapLock(wallet: { address: string }): string {
  return `causeway.swap.${wallet.address.toLowerCase()}`;
}

/**
 * Returns the name of the lock to hold while a wallet buys from token sales or revokes approvals for them. A wallet has
 * one lock for all token sales, because sales with the same fund share an allowance. On Solana, all sales with the same
 * token share an allowance.
 */
export function saleLock(wallet: { address: string }): string {
  return `causeway.sale-wallet.${wallet.address.toLowerCase()}`;
}

export function runsElsewhere(): Error {
  return Object.assign(
    new Error('Another purchase with this wallet is still open, in this or another tab.'),
    { code: 'purchase_elsewhere' },
  );
}
