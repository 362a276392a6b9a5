import { parseArgs } from 'node:util';
import type { Config } from '../../kernel/config/config.ts';
import { openChains } from '../../platform/chain/open-chains.ts';
import { chainChecks } from '../doctor/chains.ts';
import { databaseChecks, openDatabase } from '../doctor/database.ts';
import { type Finding, failed, ok, runCheck, warning } from '../doctor/finding.ts';
import { openTransactionsCheck } from '../doctor/open-transactions.ts';
import { reachabilityChecks } from '../doctor/reachability.ts';
import type { CommandHelp } from './command.ts';

export const help: CommandHelp = {
  usage: ['doctor [--json]'],
  description:
    'Checks everything that a node needs, using the settings that it would start with: the settings themselves; the database (version, TLS, clock, connections, migrations and notifications); the secret; the RPC endpoints; the operator keys (roles, balances and open transactions); the public URL; the mail server; and the webhook endpoints of partners. Every problem comes with a remedy. The command changes nothing, shows no secrets, and works while parts are down. It exits with 1 if a check fails.',
  options: { '--json': 'Print the findings as JSON.' },
  examples: {
    doctor: 'Check a machine before its first start',
    'doctor --json': 'Let a deployment pipeline read the findings',
  },
};

/** `problems` lists the invalid settings. `config` has the valid ones, which the other checks use. */
export async function run(
  { config, problems }: { config: Config; problems: readonly string[] },
  args: string[],
): Promise<void> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } });
  const findings = [...judgeSettings(config, problems), ...(await examine(config))];
  const isFailed = findings.some(({ status }) => status === 'failed');
  const report = { object: 'doctor', status: isFailed ? 'failed' : 'ok', findings };
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : formatFindings(findings));
  if (isFailed) process.exitCode = 1;
}

function judgeSettings({ profile, warnings }: Config, problems: readonly string[]): Finding[] {
  const remedy = 'See docs/configuration.md.';
  const found = [
    ...problems.map((problem) => failed('settings', problem, remedy)),
    ...warnings.map((text) => warning('settings', text, 'Remove or rename the variable.')),
  ];
  return found.length > 0 ? found : [ok('settings', `complete for ${profile}`)];
}

async function examine(config: Config): Promise<Finding[]> {
  const chains = openChains({ urls: config.rpcUrls });
  const { database, findings, close } = await openDatabase(config);
  try {
    const db = database?.isMigrated ? database.db : null;
    const checks = [
      ...(database === null ? [] : databaseChecks(config, database)),
      ...chainChecks(config, chains, db),
      openTransactionsCheck(config, chains, db),
      ...reachabilityChecks(config, db),
    ];
    return [...findings, ...(await Promise.all(checks.map((check) => runCheck(check)))).flat()];
  } finally {
    await Promise.all([close(), chains.close()]);
  }
}

function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, status, finding, remedy }) => [
    `${status.padEnd(8)} ${check.padEnd(width)}  ${finding}`,
    ...(remedy === null ? [] : [`${' '.repeat(9)}${' '.repeat(width)}  → ${remedy}`]),
  ]);
  const count = (wanted: Finding['status']) => findings.filter(({ status }) => status === wanted).length;
  return `${lines.join('\n')}\n\n${count('failed')} failed, ${count('warning')} warnings, ${count('ok')} ok.\n`;
}
