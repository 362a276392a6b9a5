import type { Hex } from 'viem';
import { stableJson } from '../../kernel/stable-json.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { type FundTotals, readTokenTotals } from '../../platform/chain/evm/sale-fund.ts';
import type { Db } from '../../platform/db/pool.ts';
import { planReconcile, type ReconcilePlan } from './reconcile-plan.ts';
import { type BookedTotals, listSlugs } from './reconcile-store.ts';

/** A difference, with the participations, transactions and offers that it affects. */
export type ReportedDifference = {
  offers: string[];
  fund: string;
  participation_ids: string[];
  transaction_hashes: string[];
  message: string;
};

/** How the database compares with the funds on one chain. Amounts are in the smallest unit of the token. */
export type ChainReport = {
  chain: string;
  from_block: string;
  to_block: string;
  offers: { offer: string; agrees: boolean }[];
  funds: {
    fund: string;
    token: string;
    offers: string[];
    chain: Record<string, string>;
    database: Record<string, string>;
    agrees: boolean;
  }[];
  lost_transactions: { hash: string; kind: string; participation_ids: string[] }[];
  differences: ReportedDifference[];
  agrees: boolean;
};

/**
 * Compares every fund with the database: the totals of the fund, and its events from block `fromBlock` to the latest
 * final block.
 */
export async function buildReport(
  db: Db,
  chain: EvmChain,
  fromBlock: bigint | 'first' = 'first',
): Promise<ChainReport> {
  const plan = await planReconcile(db, chain, fromBlock);
  const funds = await Promise.all(plan.booked.map((each) => compareTotals(chain, plan, each)));
  const slugs = await listSlugs(
    db,
    plan.funds.flatMap(({ offerIds }) => offerIds),
  );
  const differences = plan.differences.map(({ fund, offerIds, participationIds, hashes, message }) => ({
    ...{ offers: offerIds.map((id) => slugs.get(id) ?? id), fund, message },
    ...{ participation_ids: participationIds, transaction_hashes: hashes },
  }));
  return finishReport({
    ...{ chain: chain.name, from_block: String(plan.fromBlock), to_block: String(plan.toBlock) },
    ...{ funds, differences, slugs: [...slugs.values()] },
    lost_transactions: plan.lost.map(({ hash, kind, rowIds }) => ({ hash, kind, participation_ids: rowIds })),
  });
}

/** Adds whether the chain and the database agree, for each offer and for the whole report. */
export function finishReport({
  slugs,
  ...report
}: Omit<ChainReport, 'offers' | 'agrees'> & { slugs: readonly string[] }): ChainReport {
  const { funds, differences, lost_transactions } = report;
  const disputed = new Set([
    ...differences.flatMap(({ offers }) => offers),
    ...funds.flatMap(({ offers, agrees }) => (agrees ? [] : offers)),
  ]);
  const isClean = differences.length === 0 && lost_transactions.length === 0;
  return {
    ...report,
    offers: [...new Set(slugs)].sort().map((offer) => ({ offer, agrees: !disputed.has(offer) })),
    agrees: isClean && funds.every(({ agrees }) => agrees),
  };
}

/**
 * Compares the fund's counters on chain with the totals in the database. Subtracts transactions in flight from the
 * counters, because the database does not count them yet. Withdrawals do not change the counters.
 */
export async function compareTotals(
  chain: EvmChain,
  { toBlock, inFlight }: ReconcilePlan,
  { fund, token, offers, totals }: BookedTotals,
) {
  const onChain = await readTokenTotals(chain, fund, token, toBlock);
  const booked = { fund: fund as Hex, token, offers, database: toText(totals) };
  // Of a fund without totals, only the events are compared.
  if (onChain === null) return { ...booked, chain: {}, agrees: true };
  for (const event of inFlight) {
    if (event.fund !== fund || event.token !== token) continue;
    const [count, sum] =
      event.name === 'Committed' ? (['commits', 'committed'] as const) : (['refunds', 'refunded'] as const);
    onChain[count] -= 1n;
    onChain[sum] -= event.amount;
  }
  const counted = toText(onChain);
  return { ...booked, chain: counted, agrees: stableJson(counted) === stableJson(booked.database) };
}

function toText({ commits, committed, refunds, refunded }: FundTotals): Record<keyof FundTotals, string> {
  return {
    commits: String(commits),
    committed: String(committed),
    refunds: String(refunds),
    refunded: String(refunded),
  };
}
