import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kernel } from '../../platform/context/kernel.ts';
import type { RequestFacts } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';

/** `clientReadAt`: the database time at which the request first read its client. */
type RunningRequest = RequestFacts & { clientReadAt?: string };

export type RequestDatabase = {
  within<T>(request: RequestFacts, work: () => T): T;
  laneDb(): Db;
  /** Like `laneDb`, but the audit log records the request for each transaction. */
  requestDb(): Db;
  noteClientRead(readAt: string): void;
  /** Returns when the request first read its client, or null if it has read none. */
  clientReadAt(): string | null;
};

/** Keeps the request in async local storage, because oidc-provider does not pass the request to the adapter. */
export function createRequestDatabase({ db, laneOf }: Pick<Kernel, 'db' | 'laneOf'>): RequestDatabase {
  const requests = new AsyncLocalStorage<RunningRequest>();
  return {
    within: (request, work) => requests.run({ ...request }, work),
    laneDb: () => {
      const request = requests.getStore();
      return request === undefined ? db : laneOf(request.lane).db;
    },
    requestDb: () => {
      const request = requests.getStore();
      return request === undefined ? db : laneOf(request.lane).tagged({ requestId: request.id, actor: null });
    },
    noteClientRead: (readAt) => {
      const request = requests.getStore();
      if (request !== undefined) request.clientReadAt ??= readAt;
    },
    clientReadAt: () => requests.getStore()?.clientReadAt ?? null,
  };
}
