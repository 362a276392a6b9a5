import type { Hex } from 'viem';
import type { FundRow } from '../../platform/chain/evm/sale-fund.ts';
import type { OperatorAccount } from '../../platform/operator/account.ts';
import type { FollowState, FollowTimings, OutcomeHandlers } from '../../platform/operator/follow.ts';
import type { SettlementRow } from './store.ts';
import type { WorkerParts } from './worker.ts';

/** The parts of a worker that are specific to EVM chains. */
export type EvmParts = WorkerParts & {
  account: OperatorAccount;
  handlers: OutcomeHandlers;
  state: FollowState;
  timings: FollowTimings;
};

/** A participation row on an EVM chain. The database guarantees that the addresses are valid. */
export type EvmRow = SettlementRow & FundRow & { fund: Hex; approvalHash: Hex };

export function toEvmRows(rows: readonly SettlementRow[]): EvmRow[] {
  return rows as EvmRow[];
}
