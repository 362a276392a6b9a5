import { SENDING_ROLES, type SendingRole } from '../../kernel/config/role.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import type { Context } from '../../platform/context/context.ts';
import { feeLimits, keyId } from '../../platform/operator/account.ts';
import { type FollowTimings, followTransactions } from '../../platform/operator/follow.ts';
import type { Signer } from '../../platform/operator/signer.ts';
import { evmApprovalReader } from '../participations/evm-approval.ts';
import type { AlertGauges } from './alerts.ts';
import type { SettlementDriver } from './driver.ts';
import { sendCommit } from './evm-commit.ts';
import { type EvmParts, toEvmRows } from './evm-parts.ts';
import { sendBatchOrFirst } from './evm-refund.ts';
import { keepUncommitted } from './fund-ids.ts';
import { createOutcomeHandlers } from './outcome.ts';
import { revokeNext } from './revoke.ts';
import { createWorker, type SettlementWorker } from './worker.ts';

export type EvmWorker = SettlementWorker & EvmParts;

/**
 * The maximum number of unmined transactions. By default, nodes keep at least 16 pending transactions per account, so
 * they drop none of ours.
 */
const MAX_UNMINED_TRANSACTIONS = 16;
const WATCH_INTERVAL_MS = 250;

/**
 * Creates the worker that settles on an EVM chain with the key of `signer`. The worker sends only transactions for
 * `roles`.
 */
export function createEvmWorker(
  ctx: Context,
  chain: EvmChain,
  signer: Signer,
  gauges: AlertGauges,
  timings: FollowTimings,
  roles: readonly SendingRole[] = SENDING_ROLES,
): EvmWorker {
  const key = { chain: chain.name, address: signer.address };
  return createWorker(ctx, key, gauges, (worker) => {
    const { db, log, clock, random } = ctx;
    const account = {
      ...{ db, log, clock, random, chain, signer, ...feeLimits(ctx.config, chain.name) },
      refused: new Map(),
    };
    const parts: EvmParts = {
      ...worker,
      account,
      handlers: createOutcomeHandlers(ctx, account, worker.alerts),
      state: {
        head: null,
        confirming: new Map(),
        nonces: { since: null },
        unmined: null,
        checkedEpoch: null,
      },
      timings,
    };
    return { ...parts, driver: createEvmDriver(parts, roles) };
  });
}

function createEvmDriver(parts: EvmParts, roles: readonly SendingRole[]): SettlementDriver {
  const { account, state, handlers } = parts;
  /**
   * Whether `follow` succeeded in this round. `follow` throws if the key has sent a transaction that this database does
   * not know.
   */
  let isKeyOurs = false;
  return {
    key: keyId(account),
    roles,
    blockTimeSeconds: account.chain.facts.blockTimeSeconds,
    watchIntervalMs: WATCH_INTERVAL_MS,
    maxUnmined: MAX_UNMINED_TRANSACTIONS,
    transactionsPerStep: 1,
    reader: () => evmApprovalReader(account.chain),
    readers: () => account.chain.rpc.providers().map((rpc) => evmApprovalReader({ ...account.chain, rpc })),
    head: () => state.head?.hash ?? null,
    reset: () => {
      state.head = null;
      state.confirming.clear();
      state.nonces.since = null;
    },
    follow: async (lease) => {
      isKeyOurs = false;
      const progress = await followTransactions(account, lease, state, parts.timings, handlers);
      isKeyOurs = true;
      return progress;
    },
    revokeNext: () => revokeNext(parts),
    // A fund that does not store participation ids cannot tell which rows it has committed. If a commit to such a fund
    // is missing from this database, `follow` notices the used nonce, and the key is blocked.
    skipCommitted: (rows) => keepUncommitted(parts, toEvmRows(rows)),
    // If `follow` succeeded, no commit is missing from this database: a missing commit would have used a nonce on the
    // chain, and `follow` would have thrown.
    keepExcluded: async (rows) => (isKeyOurs ? rows : []),
    sendCommits: (rows) => sendCommit(parts, rows),
    // Uses the head that this round has checked. The newest head would be wrong, because a reorganization may have
    // replaced a commit since the check.
    refundableBlocks: () =>
      state.head && { committedBelow: state.head.final + 1n, releasedBelow: state.head.released + 1n },
    sendRefunds: (rows) => sendBatchOrFirst(parts, rows),
  };
}
