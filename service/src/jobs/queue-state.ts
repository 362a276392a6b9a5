/** How much work waits in a table that is a queue. */
export type QueueState = {
  length: number;
  /** How long the oldest row has been waiting for its turn. */
  oldestSeconds: number;
};

export const EMPTY_QUEUE: QueueState = { length: 0, oldestSeconds: 0 };
