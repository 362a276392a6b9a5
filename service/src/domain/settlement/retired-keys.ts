import { ConfigError } from '../../kernel/config/config.ts';
import type { Context } from '../../platform/context/context.ts';
import type { FollowTimings } from '../../platform/operator/follow.ts';
import { listSenders } from '../../platform/operator/signers.ts';
import { listUnfinishedKeys } from '../../platform/operator/store.ts';
import type { AlertGauges } from './alerts.ts';
import { countUnsettled } from './backlog-store.ts';
import { createEvmWorker } from './evm-driver.ts';
import { createSolanaWorker } from './solana-driver.ts';
import {
  canFinish,
  describeUnfollowed,
  describeUnlisted,
  isRemoteKey,
  listUnfollowedChains,
} from './unfinished-keys.ts';
import type { SettlementWorker } from './worker.ts';

/**
 * Checks the chains for which this node has a key but no RPC URL. Skips keys that `OPERATOR_KEYS_FILE` assigns to other
 * nodes.
 * - Throws `ConfigError` if a key has open transactions on such a chain, because no worker would resend them or notice
 *   their outcome.
 * - Merely logs a warning if participations wait on such a chain, or if a reorganization could still undo settled
 *   transactions there. Settled transactions become final only while the chain is followed.
 */
export async function assertChainsFollowed(ctx: Context): Promise<void> {
  const { chains, config, signerOf, log } = ctx;
  const unfinished = await listUnfinishedKeys(ctx.db);
  const unfollowed = listUnfollowedChains(chains, config, (role, chain) => signerOf(role, chain) !== null);
  for (const chain of unfollowed) {
    const keys = unfinished.filter((each) => each.chain === chain && !isRemoteKey(config, each));
    const sending = keys.find(({ open }) => open > 0);
    if (sending !== undefined) throw new ConfigError([describeUnfollowed(sending)]);
    for (const { address, count } of keys)
      log.warn(
        { chain, address, count },
        'settled transactions are not checked for reorganizations: the chain has no RPC URL',
      );
    const count = await countUnsettled(ctx.db, chain);
    if (count > 0) log.warn({ chain, count }, 'participations wait on a chain without an RPC URL');
  }
}

/**
 * Returns one worker for each replaced key and each chain on which the key has unfinished transactions. Skips keys that
 * `OPERATOR_KEYS_FILE` assigns to other nodes. Throws `ConfigError` in two cases:
 * - A replaced key is not configured here, so no node would resend its transactions or notice their outcome. A node
 *   without any current EVM key only logs a warning, because one of the nodes that settle may have the key.
 * - A key has lost a role in which it sent unfinished transactions, so it may not sign replacements for them.
 */
export async function listRetiredWorkers(
  ctx: Context,
  gauges: AlertGauges,
  timings: FollowTimings,
): Promise<SettlementWorker[]> {
  const workers: SettlementWorker[] = [];
  const hasCurrentKey = ctx.chains.all().some(({ name }) => listSenders(ctx.signerOf, name).length > 0);
  for (const unfinished of await listUnfinishedKeys(ctx.db)) {
    const { chain, address, count } = unfinished;
    const evm = ctx.chains.all().find(({ name }) => name === chain);
    if (evm === undefined || isRemoteKey(ctx.config, unfinished)) continue;
    const current = listSenders(ctx.signerOf, chain).find((sender) => sender.signer.address === address);
    const retired = ctx.retiredSigners.filter(({ signer }) => signer.address === address);
    const held = [current ?? [], retired].flat();
    const [key] = held;
    if (key === undefined && !hasCurrentKey) {
      ctx.log.warn({ chain, address, count }, 'another node must finish the transactions of an operator key');
      continue;
    }
    if (key === undefined || !canFinish(unfinished, held))
      throw new ConfigError([describeUnlisted(unfinished)]);
    // A current key already has a worker, which follows all of the key's transactions.
    if (current === undefined) workers.push(createEvmWorker(ctx, evm, key.signer, gauges, timings));
  }
  return workers;
}

/**
 * Returns one worker for each replaced Solana key and each cluster on which the key has open transactions. The worker
 * needs no private key, because it only resends stored transactions and follows them. If all attempts of a transaction
 * expire, the worker with the role's current key takes over: it looks for a receipt from the replaced key, and if there
 * is no receipt, settles the transaction's participation. Skips a key that has lost only some of its roles, because
 * that key already has a worker.
 */
export async function listRetiredSolanaWorkers(
  ctx: Context,
  gauges: AlertGauges,
): Promise<SettlementWorker[]> {
  return (await listUnfinishedKeys(ctx.db)).flatMap(({ chain: name, address }) => {
    const chain = ctx.chains.allSolana().find((each) => each.name === name);
    const isCurrent = listSenders(ctx.solanaSignerOf, name).some(({ signer }) => signer.address === address);
    if (chain === undefined || isCurrent) return [];
    return [createSolanaWorker(ctx, chain, { address, signer: null, roles: [] }, gauges)];
  });
}
