import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db } from '../db/pool.ts';
import type { Kernel } from '../kernel.ts';

export type RequestDatabase = {
  /** Runs the work of a request. */
  within<T>(requestId: string, work: () => T): T;
  /** Returns the database. Within a request, its transactions name the request in the audit log. */
  current(): Db;
};

/** oidc-provider calls its adapter without the request, so the id of the request follows the asynchronous calls. */
export function createRequestDatabase({ db, taggedDb }: Pick<Kernel, 'db' | 'taggedDb'>): RequestDatabase {
  const requests = new AsyncLocalStorage<string>();
  return {
    within: (requestId, work) => requests.run(requestId, work),
    current: () => {
      const requestId = requests.getStore();
      return requestId === undefined ? db : taggedDb({ requestId, actor: null });
    },
  };
}
