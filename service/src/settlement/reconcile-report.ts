import type { Hex } from 'viem';
import type { EvmChain } from '../chain/evm/client.ts';
import { type FundTotals, readTokenTotals } from '../chain/evm/sale-fund.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/pool.ts';
import { toTimestamp } from '../http/wire.ts';
import type { Signer } from '../operator/signer.ts';
import { stableJson } from '../stable-json.ts';
import { planReconcile } from './reconcile-plan.ts';
import { type BookedTotals, listBookedTotals } from './reconcile-store.ts';

/** How the books of one chain compare with its funds. Amounts are in the smallest unit of the token. */
export type ReconcileReport = {
  object: 'reconcile_report';
  chain: string;
  from_block: string;
  to_block: string;
  created_at: string;
  funds: {
    fund: Hex;
    token: Hex;
    offers: string[];
    chain: Record<keyof FundTotals, string>;
    database: Record<keyof FundTotals, string>;
    agrees: boolean;
  }[];
  lost_transactions: { hash: Hex; kind: string; participation_ids: string[] }[];
  differences: string[];
  agrees: boolean;
};

/** Compares events and totals of every fund with the rows, from block `fromBlock` to the last final block. */
export async function buildReport(
  { db, clock }: { db: Db; clock: Clock },
  chain: EvmChain,
  fromBlock = 0n,
): Promise<ReconcileReport> {
  const plan = await planReconcile(db, chain, fromBlock);
  const booked = await listBookedTotals(db, chain.name, plan.toBlock);
  const funds = await Promise.all(booked.map((each) => compareTotals(chain, each, plan.toBlock)));
  const differences = plan.differences.map(({ fund, message }) => `${fund}: ${message}`);
  return {
    object: 'reconcile_report',
    chain: chain.name,
    from_block: String(plan.fromBlock),
    to_block: String(plan.toBlock),
    created_at: toTimestamp(clock.micros()),
    funds,
    lost_transactions: plan.lost.map(({ hash, kind, rowIds }) => ({ hash, kind, participation_ids: rowIds })),
    differences,
    agrees: differences.length === 0 && plan.lost.length === 0 && funds.every(({ agrees }) => agrees),
  };
}

async function compareTotals(chain: EvmChain, { fund, token, offers, totals }: BookedTotals, block: bigint) {
  const onChain = await readTokenTotals(chain, fund, token, block);
  const [left, right] = [toText(onChain), toText(totals)];
  return {
    ...{ fund, token, offers, chain: left, database: right },
    agrees: stableJson(left) === stableJson(right),
  };
}

function toText({ commits, committed, refunds, refunded }: FundTotals): Record<keyof FundTotals, string> {
  return {
    commits: String(commits),
    committed: String(committed),
    refunds: String(refunds),
    refunded: String(refunded),
  };
}

/** Adds the operator's signature (EIP-191) of the report's canonical JSON; null without a key. */
export async function signReport(report: ReconcileReport, signer: Signer | null) {
  const signature = signer === null ? null : await signer.signMessage(stableJson(report));
  return { ...report, signer: signer?.address ?? null, signature };
}
