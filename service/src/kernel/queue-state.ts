/** The backlog of a table that serves as a queue. */
export type QueueState = {
  length: number;
  /** How long the oldest row has been waiting for its turn. */
  oldestSeconds: number;
};

export const EMPTY_QUEUE: QueueState = { length: 0, oldestSeconds: 0 };
