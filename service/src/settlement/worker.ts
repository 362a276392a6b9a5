import type { EvmChain } from '../chain/evm/client.ts';
import type { Context } from '../context.ts';
import { feeLimits, type OperatorAccount } from '../operator/account.ts';
import type { FollowState, FollowTimings, OutcomeHandlers } from '../operator/follow.ts';
import { type Lease, LeaseLost, releaseLease } from '../operator/lease.ts';
import type { Signer } from '../operator/signer.ts';
import { type AlertGauges, type Alerts, createAlerts } from './alerts.ts';
import { createOutcomeHandlers } from './outcome.ts';

/** The settlement of one chain. Only the node that holds the lease does any work. */
export type SettlementWorker = {
  ctx: Context;
  account: OperatorAccount;
  alerts: Alerts;
  handlers: OutcomeHandlers;
  state: FollowState;
  timings: FollowTimings;
  /** Returns the lease of the current round. Throws `LeaseLost` if there is none. */
  lease(): Lease;
  setLease(lease: Lease | null): void;
  /** Releases the lease when the process stops. */
  release(): Promise<void>;
};

export function createWorker(
  ctx: Context,
  chain: EvmChain,
  signer: Signer,
  gauges: AlertGauges,
  timings: FollowTimings,
): SettlementWorker {
  const { db, log, clock, random } = ctx;
  const alerts = createAlerts(gauges, log, chain.name);
  let current: Lease | null = null;
  const account = { db, log, clock, random, chain, signer, ...feeLimits(ctx.config, chain.name) };
  return {
    ctx,
    account,
    alerts,
    handlers: createOutcomeHandlers(ctx, account, alerts),
    state: { head: null, nonces: { since: null }, unmined: null, checkedEpoch: null },
    timings,
    lease: () => {
      if (current === null) throw new LeaseLost();
      return current;
    },
    setLease: (lease) => {
      current = lease;
    },
    release: async () => {
      if (current !== null) await releaseLease(db, current).catch(() => undefined);
    },
  };
}
