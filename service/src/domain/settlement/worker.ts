import type { SendingRole } from '../../kernel/config/role.ts';
import type { Context } from '../../platform/context/context.ts';
import type { KeyId } from '../../platform/operator/account.ts';
import { type Lease, LeaseLost } from '../../platform/operator/lease.ts';
import { releaseLease } from '../../platform/operator/lease-store.ts';
import { type AlertGauges, type Alerts, createAlerts } from './alerts.ts';
import type { SettlementDriver } from './driver.ts';

/** The parts of a worker that its driver needs. */
export type WorkerParts = {
  ctx: Context;
  alerts: Alerts;
  /** Returns the lease of the current round. Throws `LeaseLost` if the node does not hold it. */
  lease(): Lease;
  skippedFunds: SkippedFunds;
};

/**
 * The funds that the worker skips, per role, each with the `performance.now()` time at which skipping ends. A fund is
 * skipped at least until the round ends. Otherwise, a fund whose rows cannot be sent could use up all steps of the
 * round and keep the other funds waiting.
 */
export type SkippedFunds = Record<SendingRole, Map<string, number>>;

/** Settles one chain with one key. Only the node that holds the key's lease does any work. */
export type SettlementWorker = WorkerParts & {
  driver: SettlementDriver;
  /**
   * `head`: the chain head when prepared rows were last checked. `since`: the database time at which that head was
   * first seen.
   */
  prepared: { head: string | null; since: string | null };
  setLease(lease: Lease | null): void;
  /** Releases the lease if this node holds it. */
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
    skippedFunds: { commit: new Map(), refund: new Map() },
  };
  return {
    ...parts,
    ...createDriver(parts),
    prepared: { head: null, since: null },
    setLease: (lease) => {
      current = lease;
    },
    release: async () => {
      if (current !== null) await releaseLease(ctx.db, current).catch(() => undefined);
    },
  };
}
