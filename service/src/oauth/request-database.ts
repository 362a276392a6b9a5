import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db } from '../db/pool.ts';
import type { Kernel } from '../kernel.ts';

type RequestFacts = {
  id: string;
  /** The lane in which the request waits for the database. */
  lane: string;
};

export type RequestDatabase = {
  /** Runs `work` for the request, so that `laneDb` and `requestDb` know which request they serve. */
  within<T>(request: RequestFacts, work: () => T): T;
  /** Returns the database in the lane of the request. */
  laneDb(): Db;
  /** Like `laneDb`, but its transactions name the request in the audit log. */
  requestDb(): Db;
};

/** oidc-provider calls its adapter without the request, so the facts about the request are in async local storage. */
export function createRequestDatabase({ db, laneOf }: Pick<Kernel, 'db' | 'laneOf'>): RequestDatabase {
  const requests = new AsyncLocalStorage<RequestFacts>();
  return {
    within: (request, work) => requests.run(request, work),
    laneDb: () => {
      const request = requests.getStore();
      return request === undefined ? db : laneOf(request.lane).db;
    },
    requestDb: () => {
      const request = requests.getStore();
      return request === undefined ? db : laneOf(request.lane).tagged({ requestId: request.id, actor: null });
    },
  };
}
