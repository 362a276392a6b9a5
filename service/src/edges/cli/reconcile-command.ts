import { readFile } from 'node:fs/promises';
import { applyReconcile, PlanOutdated } from '../../domain/settlement/reconcile.ts';
import { planReconcile, type ReconcilePlan } from '../../domain/settlement/reconcile-plan.ts';
import { buildReport } from '../../domain/settlement/reconcile-report.ts';
import { buildSolanaReport } from '../../domain/settlement/reconcile-solana.ts';
import { isReportSigned, type SignedReport, signReport } from '../../domain/settlement/report-signature.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import { createLog } from '../../kernel/log.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import type { Db } from '../../platform/db/pool.ts';
import { rehearse } from '../../platform/db/rehearse.ts';
import { confirm, writeOutput } from './command.ts';
import { runCommand } from './run-command.ts';

export type ReconcileOptions = {
  'from-block'?: string;
  yes?: boolean;
  'dry-run'?: boolean;
  report?: boolean;
  write?: string;
};

/**
 * Compares a chain with the database and prints the plan. Applies the plan once the operator has confirmed it. Sets the
 * exit code to 1 if the plan contains differences. Lost transactions alone do not change the exit code, because the
 * plan adopts them.
 */
export async function runReconcile(config: Config, chain: EvmChain, values: ReconcileOptions): Promise<void> {
  const fromBlock = readFromBlock(values);
  if (values.write !== undefined) throw new UsageError('--write requires --report');
  await runCommand(config, async (ctx) => {
    const plan = await planReconcile(ctx.db, chain, fromBlock);
    console.log(describePlan(plan));
    if (plan.differences.length > 0) process.exitCode = 1;
    if (plan.lost.length === 0 && plan.differences.length === 0) return;
    const isDryRun = values['dry-run'] === true;
    if (!isDryRun && values.yes !== true && !(await confirm()))
      throw new UsageError('Not confirmed, so nothing was changed. Use --yes to skip the confirmation.');
    const apply = (db: Db) =>
      applyReconcile({ ...ctx, db, log: createLog({ level: 'silent', pretty: false }) }, plan);
    try {
      await (isDryRun ? rehearse(ctx.db, apply) : apply(ctx.db));
      if (!isDryRun) console.error('Done.');
    } catch (error) {
      if (!(error instanceof PlanOutdated)) throw error;
      throw new UsageError(error.message);
    }
  });
}

/** Changes nothing. Sets the exit code to 1 if there is any difference. */
export async function writeReport(
  config: Config,
  chains: { evm: readonly EvmChain[]; solana: readonly SolanaChain[] },
  values: ReconcileOptions,
): Promise<void> {
  const fromBlock = readFromBlock(values);
  await runCommand(config, async ({ db, clock, sealing }) => {
    const reports = [
      ...(await Promise.all(chains.evm.map((chain) => buildReport(db, chain, fromBlock)))),
      ...(await Promise.all(chains.solana.map((chain) => buildSolanaReport(db, chain)))),
    ];
    const agrees = reports.every((report) => report.agrees);
    const head = { object: 'reconcile_report', created_at: toTimestamp(clock.micros()), agrees };
    const report = signReport(sealing, { ...head, chains: reports });
    if (!agrees) process.exitCode = 1;
    console.error(`Verify the report with this public key: ${report.public_key}`);
    await writeOutput(values.write, `${JSON.stringify(report, null, 2)}\n`);
  });
}

/** Checks the signature of a report file. Needs no settings, database or network. */
export async function verifyReport(file: string, key: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`${file} cannot be read: ${error.message}`);
  });
  const report = parseReport(file, text);
  const isSigned = isReportSigned(report, key);
  console.log(
    isSigned
      ? `The signature is valid. The chain and the database ${report.agrees === true ? 'agreed' : 'differed'}.`
      : 'The report was not signed with this key, or it was changed.',
  );
  if (!isSigned) process.exitCode = 1;
}

function parseReport(file: string, text: string): SignedReport & { agrees?: unknown } {
  let report: unknown;
  try {
    report = JSON.parse(text);
  } catch {
    throw new UsageError(`${file} is not a report: it is not valid JSON`);
  }
  const { signature, public_key: key } = (report ?? {}) as Record<string, unknown>;
  if (typeof signature !== 'string' || typeof key !== 'string')
    throw new UsageError(`${file} is not a report: it has no signature`);
  return report as SignedReport;
}

function readFromBlock({ 'from-block': from }: ReconcileOptions): bigint | undefined {
  if (from !== undefined && !/^\d{1,18}$/.test(from))
    throw new UsageError('--from-block must be a block number');
  return from === undefined ? undefined : BigInt(from);
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
