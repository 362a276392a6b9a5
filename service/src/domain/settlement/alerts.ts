import { Gauge, type Registry } from 'prom-client';
import type { Log } from '../../kernel/log.ts';
import type { KeyId } from '../../platform/operator/account.ts';
import type { BlockedReason } from '../../platform/operator/blocked.ts';

/**
 * Reports why settlement with one key on one chain is blocked: as metrics and in the log. While an alert stays raised,
 * the log repeats a message only once an hour.
 */
export type Alerts = {
  /**
   * Raises an alert for `seconds`, or extends it. Without `seconds`, a new alert stays raised until the end of the
   * settlement round.
   */
  raise(reason: BlockedReason, message: string, seconds?: number): void;
  /** Publishes the alerts after a settlement round. Calls `countUnsettled` only if an alert is raised. */
  report(countUnsettled: () => Promise<number>): Promise<void>;
  /** Drops all alerts. Used when another node settles with the key and reports the key's alerts. */
  clear(): void;
};

export type AlertGauges = {
  /**
   * Publishes how many participations wait while settlement with this key is blocked for this reason. The metric has no
   * label for the key. If several keys settle on a chain, the metric shows the highest of their counts.
   */
  set(key: KeyId, reason: BlockedReason, waiting: number): void;
};

const REASONS: readonly BlockedReason[] = [
  'operator_out_of_gas',
  'fee_cap',
  'daily_limit',
  'fund_stopped',
  'role_missing',
  'reverts',
  'refused',
  'foreign_nonce',
  'unreconciled',
  'transfer_differs',
  'transfers_refused',
  'refund_allowance',
  'vault_balance',
  'vault_frozen',
  'foreign_transaction',
  'providers_disagree',
  'signer_policy',
  'unreachable',
  'operator_key_missing',
];

/** Maximum number of messages logged per reason and hour. One reason can block many participations. */
const MAX_MESSAGES = 20;
const LOGGED_MS = 3_600_000;

/** The topics (see `topicOf`) of the messages logged since `since`, a `performance.now()` time. */
type LoggedMessages = { since: number; topics: Set<string> };

export function createAlertGauges(registry: Registry): AlertGauges {
  const waiting = new Gauge({
    name: 'causeway_settlement_waiting',
    help: 'Participations blocked until an operator acts, by reason.',
    labelNames: ['chain', 'reason'],
    registers: [registry],
  });
  const values = new Map<string, Map<string, number>>();
  return {
    set: ({ chain, address }, reason, count) => {
      const byAddress = values.get(`${chain} ${reason}`) ?? new Map<string, number>();
      values.set(`${chain} ${reason}`, byAddress.set(address, count));
      waiting.set({ chain, reason }, Math.max(...byAddress.values()));
    },
  };
}

export function createAlerts(gauges: AlertGauges, log: Log, key: KeyId): Alerts {
  const { chain } = key;
  // `messages`: the messages since the last report, keyed by topic (see `topicOf`).
  const raised = new Map<BlockedReason, { messages: Map<string, string>; until: number }>();
  let logged = new Map<BlockedReason, LoggedMessages>();
  return {
    raise: (reason, message, seconds = 0) => {
      const { messages, until } = raised.get(reason) ?? { messages: new Map<string, string>(), until: 0 };
      const topic = topicOf(message);
      if (messages.size < MAX_MESSAGES && !messages.has(topic)) messages.set(topic, message);
      raised.set(reason, { messages, until: Math.max(until, performance.now() + seconds * 1000) });
    },
    clear: () => {
      raised.clear();
      logged.clear();
      for (const reason of REASONS) gauges.set(key, reason, 0);
    },
    report: async (countUnsettled) => {
      const waiting = raised.size === 0 ? 0 : Math.max(1, await countUnsettled());
      const now = performance.now();
      const previous = logged;
      logged = new Map();
      for (const reason of REASONS) {
        const alert = raised.get(reason);
        gauges.set(key, reason, alert === undefined ? 0 : waiting);
        if (alert === undefined) {
          if (previous.has(reason)) log.info({ chain, reason }, 'settlement unblocked');
          continue;
        }
        const found = previous.get(reason);
        const own =
          found !== undefined && now - found.since < LOGGED_MS
            ? found
            : { since: now, topics: new Set<string>() };
        logged.set(reason, own);
        for (const [topic, message] of alert.messages) {
          if (own.topics.has(topic) || own.topics.size >= MAX_MESSAGES) continue;
          own.topics.add(topic);
          log.error({ chain, reason }, `settlement blocked: ${message}`);
        }
        alert.messages.clear();
        if (alert.until <= now) raised.delete(reason);
      }
    },
  };
}

/**
 * Returns the message without its numbers, except for HTTP statuses, which name a cause. Messages with the same topic
 * count as one: amounts and heights can differ in every round.
 */
function topicOf(message: string): string {
  return message.replace(/(?<!HTTP )\b\d+\b/g, '#');
}
