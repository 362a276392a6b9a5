import { wakeSettlement } from '../../domain/holdings/wake.ts';
import { listIdsOf } from '../../domain/settlement/backlog-store.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { rehearse } from '../../platform/db/rehearse.ts';
import { feeLimits } from '../../platform/operator/account.ts';
import {
  awaitReplacement,
  planReplacement,
  requestReplacement,
} from '../../platform/operator/replacement.ts';
import type { ReplacementAction } from '../../platform/operator/transaction.ts';
import { confirm } from './confirm.ts';
import { runCommand } from './run-command.ts';

export type ReplaceOptions = { nonce?: string; address?: string; 'dry-run'?: boolean; yes?: boolean };

const WAIT_MS = 30_000;

/**
 * Prints which transaction would be replaced, asks for confirmation, and requests the replacement from the
 * node that holds the key's lease.
 */
export async function runReplace(
  config: Config,
  chain: EvmChain,
  action: ReplacementAction,
  { nonce, address, ...options }: ReplaceOptions,
): Promise<void> {
  if (nonce !== undefined && !/^\d{1,18}$/.test(nonce)) throw new UsageError('--nonce must be a number');
  const choice = {
    action,
    ...(nonce !== undefined && { nonce: BigInt(nonce) }),
    ...(address !== undefined && { address: address.toLowerCase() }),
  };
  await runCommand(config, async ({ db }) => {
    const plan = await planReplacement(db, chain, feeLimits(config, chain.name), choice);
    const ids = await listIdsOf(db, plan.id);
    console.log(JSON.stringify({ ...plan, participation_ids: ids }, null, 2));
    if (plan.new_max_fee_wei === null)
      throw new UsageError('the replacement would exceed the fee caps; raise OPERATOR_MAX_FEE_GWEI or wait');
    if (options['dry-run'] === true) return rehearse(db, (tx) => requestReplacement(tx, plan));
    if (options.yes !== true && !(await confirm()))
      throw new UsageError('Not confirmed, so nothing was requested. Use --yes to skip the confirmation.');
    await requestReplacement(db, plan);
    await wakeSettlement(db, chain.name);
    const result = await awaitReplacement(db, plan, plan.is_attended ? WAIT_MS : 0);
    if (result.outcome === 'refused') throw new UsageError(`not replaced: ${result.message}`);
    console.log(
      {
        replaced: 'Replaced. Either the original or the replacement may be mined; settlement follows both.',
        mined: 'The transaction was mined first, so nothing was replaced.',
        waiting:
          "Requested. No node has carried out the request yet; the next node that holds the key's lease will.",
      }[result.outcome] + (result.outcome === 'replaced' ? ` New transaction: ${result.hash}` : ''),
    );
  });
}
