import type { EvmChain } from '../chain/evm/client.ts';
import type { Config } from '../config.ts';
import { createLog } from '../log.ts';
import { UsageError } from '../operations/command.ts';
import { confirm } from '../operations/confirm.ts';
import { runCommand } from '../operations/run-command.ts';
import { writeOutput } from '../operations/write-output.ts';
import { openOperatorKey } from '../operator/key.ts';
import { applyReconcile, PlanOutdated } from './reconcile.ts';
import { planReconcile, type ReconcilePlan } from './reconcile-plan.ts';
import { buildReport, signReport } from './reconcile-report.ts';

export type ReconcileOptions = {
  'from-block'?: string;
  yes?: boolean;
  'dry-run'?: boolean;
  report?: boolean;
  write?: string;
};

/** Compares a chain with the database, prints the plan and, once confirmed, writes it. Exits with 1 on a difference. */
export async function runReconcile(config: Config, chain: EvmChain, values: ReconcileOptions): Promise<void> {
  const { 'from-block': from } = values;
  if (from !== undefined && !/^\d{1,18}$/.test(from))
    throw new UsageError('--from-block must be a block number');
  const fromBlock = from === undefined ? undefined : BigInt(from);
  if (values.report === true) return writeReport(config, chain, fromBlock, values.write);
  if (values.write !== undefined) throw new UsageError('--write requires --report');
  await runCommand(config, async (ctx) => {
    const plan = await planReconcile(ctx.db, chain, fromBlock);
    console.log(describePlan(plan));
    if (plan.differences.length > 0) process.exitCode = 1;
    if (values['dry-run'] === true || (plan.lost.length === 0 && plan.differences.length === 0)) return;
    if (values.yes !== true && !(await confirm()))
      throw new UsageError('Not confirmed, and nothing was changed. Use --yes to write without asking.');
    try {
      await applyReconcile({ ...ctx, log: createLog({ level: 'silent', pretty: false }) }, plan);
      console.error('Done.');
    } catch (error) {
      if (!(error instanceof PlanOutdated)) throw error;
      throw new UsageError(error.message);
    }
  });
}

/** Prints or writes a report, signed if there is an operator key. Exits with 1 on any difference, and changes nothing. */
async function writeReport(
  config: Config,
  chain: EvmChain,
  fromBlock: bigint | undefined,
  file: string | undefined,
): Promise<void> {
  await runCommand(config, async (ctx) => {
    const key = config.operatorKey;
    const signer = key === null ? null : await openOperatorKey(key, ctx.clock);
    const report = await signReport(await buildReport(ctx, chain, fromBlock), signer);
    if (!report.agrees) process.exitCode = 1;
    await writeOutput(file, `${JSON.stringify(report, null, 2)}\n`);
  });
}

function describePlan({ chain, fromBlock, toBlock, events, lost, differences }: ReconcilePlan): string {
  const paused = new Set(differences.flatMap(({ offerIds }) => offerIds));
  return [
    `${chain}: ${events} commits and refunds in the final blocks ${fromBlock} to ${toBlock}`,
    ...lost.flatMap(({ hash, kind, nonce, rowIds }) => [
      `adopt ${hash} (${kind}, nonce ${nonce})`,
      ...rowIds.map((id) => `  ${id} becomes ${kind === 'commit' ? 'completed' : 'remitted'}`),
    ]),
    ...differences.map(({ fund, message }) => `difference in ${fund}: ${message}`),
    ...[...paused].map((id) => `pause offer ${id}`),
    ...(lost.length === 0 && differences.length === 0 ? ['The chain and the database agree.'] : []),
  ].join('\n');
}
