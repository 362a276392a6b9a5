import { ConfigError } from '../config.ts';
import type { Context } from '../context.ts';
import type { FollowTimings } from '../operator/follow.ts';
import { openOperatorKey } from '../operator/key.ts';
import type { Signer } from '../operator/signer.ts';
import { listUnfinishedKeys } from '../operator/status.ts';
import type { AlertGauges } from './alerts.ts';
import { createEvmWorker } from './evm-driver.ts';
import { createSolanaWorker } from './solana-driver.ts';
import type { SettlementWorker } from './worker.ts';

/**
 * Returns a worker per chain and replaced operator key that still has transactions to follow. Throws
 * `ConfigError` if such a key is not configured: otherwise nothing would resend its transactions or record
 * their outcome.
 */
export async function listRetiredWorkers(
  ctx: Context,
  current: Signer,
  gauges: AlertGauges,
  timings: FollowTimings,
): Promise<SettlementWorker[]> {
  const keys = await Promise.all(
    ctx.config.retiredKeys.map((key) => openOperatorKey(key, ctx.clock, ctx.metrics.registry)),
  );
  const workers: SettlementWorker[] = [];
  for (const { chain, address, count } of await listUnfinishedKeys(ctx.db)) {
    const evm = ctx.chains.all().find(({ name }) => name === chain);
    if (address === current.address || evm === undefined) continue;
    const signer = keys.find((key) => key.address === address);
    if (signer === undefined)
      throw new ConfigError([
        `OPERATOR_RETIRED_KEYS: must list the replaced operator key ${address}, which has ${count} unfinished transaction${count === 1 ? '' : 's'} on ${chain}; add its private key or KMS key id, or restore it as the operator key`,
      ]);
    workers.push(createEvmWorker(ctx, evm, signer, gauges, timings));
  }
  return workers;
}

/**
 * Returns a worker per cluster and replaced Solana key that has open transactions. Stored bytes can be resent
 * and judged without the key. If all attempts of a transaction expire, the current key settles its row, after
 * looking for a receipt of the replaced key.
 */
export async function listRetiredSolanaWorkers(
  ctx: Context,
  gauges: AlertGauges,
): Promise<SettlementWorker[]> {
  return (await listUnfinishedKeys(ctx.db)).flatMap(({ chain: name, address }) => {
    const chain = ctx.chains.allSolana().find((each) => each.name === name);
    if (chain === undefined || address === ctx.solanaOperator?.address) return [];
    return [createSolanaWorker(ctx, chain, { address, signer: null }, gauges)];
  });
}
