import { Gauge, type Registry } from 'prom-client';
import type { Log } from '../log.ts';
import type { BlockedReason } from '../operator/blocked.ts';

/** Why work of a chain waits, as metrics and, once per change, in the log. */
export type Alerts = {
  /** Holds until the end of the round, or for so many seconds. */
  raise(reason: BlockedReason, message: string, seconds?: number): void;
  /** After a round. `countWaiting` is asked only when something is wrong. */
  report(openTransactions: number, countWaiting: () => Promise<number>): Promise<void>;
};

export type AlertGauges = { waiting: Gauge; open: Gauge };

const REASONS: readonly BlockedReason[] = [
  'operator_out_of_gas',
  'fee_cap',
  'fund_stopped',
  'role_missing',
  'reverts',
  'refused',
  'foreign_nonce',
  'unreachable',
];

export function createAlertGauges(registry: Registry): AlertGauges {
  const waiting = new Gauge({
    name: 'causeway_settlement_waiting',
    help: 'Participations that wait for a person, by why.',
    labelNames: ['chain', 'reason'],
    registers: [registry],
  });
  const open = new Gauge({
    name: 'causeway_settlement_open_transactions',
    help: 'Transactions of the operator that are not confirmed.',
    labelNames: ['chain'],
    registers: [registry],
  });
  return { waiting, open };
}

export function createAlerts(gauges: AlertGauges, log: Log, chain: string): Alerts {
  const raised = new Map<BlockedReason, { message: string; until: number }>();
  let before = new Set<BlockedReason>();
  return {
    raise: (reason, message, seconds = 0) =>
      void raised.set(reason, { message, until: performance.now() + seconds * 1000 }),
    report: async (openTransactions, countWaiting) => {
      const waiting = raised.size === 0 ? 0 : Math.max(1, await countWaiting());
      for (const reason of REASONS) {
        const found = raised.get(reason);
        gauges.waiting.set({ chain, reason }, found === undefined ? 0 : waiting);
        if (found !== undefined && !before.has(reason))
          log.error({ chain, reason }, `settlement waits: ${found.message}`);
        if (found === undefined && before.has(reason)) log.info({ chain, reason }, 'settlement goes on');
      }
      gauges.open.set({ chain }, openTransactions);
      before = new Set(raised.keys());
      for (const [reason, { until }] of raised) if (until <= performance.now()) raised.delete(reason);
    },
  };
}
