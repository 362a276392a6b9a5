import { registerScraped, shareRead } from '../../kernel/scraped-gauge.ts';
import type { Context } from '../../platform/context/context.ts';
import { listKeyStates } from '../../platform/operator/key-state-store.ts';
import { countOpenByChain } from '../../platform/operator/store.ts';
import { listBacklog, listMovedAmounts } from './backlog-store.ts';
import { listPauses } from './pause-store.ts';
import { countDifferences, listPasses } from './reconcile-pass-store.ts';

type Parts = Pick<Context, 'db' | 'metrics'>;

/**
 * Registers metrics that every scrape reads from the database. All nodes therefore report the same values, even nodes
 * without a lease or without an operator key.
 */
export function registerSettlementGauges(
  { db, metrics: { registry } }: Parts,
  chains: readonly string[],
): void {
  const readBacklog = shareRead(() => listBacklog(db));
  const readKeyStates = shareRead(() => listKeyStates(db));
  const none = chains.map((chain) => ({ labels: { chain }, value: 0 }));
  registerScraped(
    registry,
    {
      name: 'causeway_settlement_open_transactions',
      help: 'Operator transactions that are not confirmed yet.',
      labels: ['chain'],
    },
    async () => {
      const open = await countOpenByChain(db);
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
      help: 'Seconds since the longest-waiting unfinished participation last changed.',
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
      help: 'When this operator key last completed a settlement round.',
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
      help: '1 for the node that holds the lease of an operator key. No sample if no running node holds it.',
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
      help: 'Total amount of the commits or refunds (see role) that an operator key has signed in the last 24 hours, in the smallest unit of the token.',
      labels: ['chain', 'address', 'role', 'token'],
    },
    async () =>
      (await listMovedAmounts(db)).map(({ amount, ...labels }) => ({ labels, value: Number(amount) })),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_reconcile_differences',
      help: 'Differences between the chain and the database that wait for an operator, by offer.',
      labels: ['offer'],
    },
    async () => (await countDifferences(db)).map(({ offer, count }) => ({ labels: { offer }, value: count })),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_reconcile_last_pass_timestamp_seconds',
      help: 'When the last comparison of the chain and the database ended.',
      labels: ['chain'],
    },
    async () =>
      (await listPasses(db)).flatMap(({ chain, finishedSeconds }) =>
        finishedSeconds === null ? [] : [{ labels: { chain }, value: finishedSeconds }],
      ),
  );
}
