import type { Context } from '../context.ts';
import type { KeyId } from '../operator/account.ts';
import { type Lease, LeaseLost, releaseLease } from '../operator/lease.ts';
import { type AlertGauges, type Alerts, createAlerts } from './alerts.ts';
import type { SettlementDriver } from './driver.ts';

/** What a driver needs from its worker. */
export type WorkerParts = {
  ctx: Context;
  alerts: Alerts;
  /** Returns the lease of the current round. Throws `LeaseLost` if the node does not hold it. */
  lease(): Lease;
};

/** The settlement of one chain. Only the node that holds the lease does any work. */
export type SettlementWorker = WorkerParts & {
  driver: SettlementDriver;
  /** The head of the chain when all prepared rows were last made due. */
  prepared: { head: string | null };
  setLease(lease: Lease | null): void;
  /** Releases the lease when the process stops. */
  release(): Promise<void>;
};

export function createWorker<D extends { driver: SettlementDriver }>(
  ctx: Context,
  key: KeyId,
  gauges: AlertGauges,
  createDriver: (parts: WorkerParts) => D,
): SettlementWorker & D {
  let current: Lease | null = null;
  const parts = {
    ctx,
    alerts: createAlerts(gauges, ctx.log, key),
    lease: () => {
      if (current === null) throw new LeaseLost();
      return current;
    },
  };
  return {
    ...parts,
    ...createDriver(parts),
    prepared: { head: null },
    setLease: (lease) => {
      current = lease;
    },
    release: async () => {
      if (current !== null) await releaseLease(ctx.db, current).catch(() => undefined);
    },
  };
}
