import type { Context } from '../context.ts';
import { countOpenTransactions, readKeys } from '../operator/status.ts';
import { registerScraped, shareRead } from '../scraped-gauge.ts';
import { listBacklog, listMovedAmounts } from './backlog-store.ts';
import { listPauses } from './pause-store.ts';
import { countDifferences, listPasses } from './reconcile-pass-store.ts';

type Parts = Pick<Context, 'db' | 'metrics'>;

/**
 * Registers metrics that are read from the database when they are scraped. Every node therefore reports the same
 * values, whether it holds a lease, is blocked or has no operator key at all.
 */
export function registerSettlementGauges(
  { db, metrics: { registry } }: Parts,
  chains: readonly string[],
): void {
  const readBacklog = shareRead(() => listBacklog(db));
  const readKeyStates = shareRead(() => readKeys(db));
  const none = chains.map((chain) => ({ labels: { chain }, value: 0 }));
  registerScraped(
    registry,
    {
      name: 'causeway_settlement_open_transactions',
      help: 'Operator transactions that are not confirmed yet.',
      labels: ['chain'],
    },
    async () => {
      const open = await countOpenTransactions(db);
      return [...none, ...open.map(({ chain, count }) => ({ labels: { chain }, value: count }))];
    },
  );
  registerScraped(
    registry,
    {
      name: 'causeway_settlement_backlog',
      help: 'Participations that settlement has yet to finish.',
      labels: ['chain', 'status'],
    },
    async () =>
      (await readBacklog()).map(({ chain, status, count }) => ({ labels: { chain, status }, value: count })),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_settlement_oldest_seconds',
      help: 'The longest time that an unfinished participation has gone without a change, in seconds.',
      labels: ['chain', 'status'],
    },
    async () =>
      (await readBacklog()).map(({ chain, status, oldest_seconds }) => ({
        labels: { chain, status },
        value: oldest_seconds,
      })),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_settlement_paused',
      help: 'Chains and offers whose settlement is paused, by reason.',
      labels: ['subject', 'reason'],
    },
    async () =>
      (await listPauses(db)).map(({ subject, reason }) => ({ labels: { subject, reason }, value: 1 })),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_settlement_last_round_timestamp_seconds',
      help: 'When a node last completed a settlement round with a key.',
      labels: ['chain', 'address'],
    },
    async () =>
      (await readKeyStates()).flatMap(({ chain, address, goodRoundSeconds }) =>
        goodRoundSeconds === null ? [] : [{ labels: { chain, address }, value: goodRoundSeconds }],
      ),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_settlement_lease_holder',
      help: 'The node that holds the lease of a key. No sample if no living node holds it.',
      labels: ['chain', 'address', 'node'],
    },
    async () =>
      (await readKeyStates()).flatMap(({ chain, address, holder }) =>
        holder === null ? [] : [{ labels: { chain, address, node: String(holder) }, value: 1 }],
      ),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_operator_value_spent',
      help: 'The amount of a token in the commits or refunds that a key has signed in the last 24 hours, by role, in the smallest unit.',
      labels: ['chain', 'address', 'role', 'token'],
    },
    async () =>
      (await listMovedAmounts(db)).map(({ amount, ...labels }) => ({ labels, value: Number(amount) })),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_reconcile_differences',
      help: 'Differences between the chain and the database that no operator has accepted, by offer.',
      labels: ['offer'],
    },
    async () => (await countDifferences(db)).map(({ offer, count }) => ({ labels: { offer }, value: count })),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_reconcile_last_pass_timestamp_seconds',
      help: 'When a comparison of the chain and the database last ended.',
      labels: ['chain'],
    },
    async () =>
      (await listPasses(db)).flatMap(({ chain, finishedSeconds }) =>
        finishedSeconds === null ? [] : [{ labels: { chain }, value: finishedSeconds }],
      ),
  );
}
