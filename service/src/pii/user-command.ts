import { parseArgs } from 'node:util';
import { type Config, ConfigError } from '../config.ts';
import { openDocuseal } from '../documents/docuseal.ts';
import { type Operator, runCommand } from '../operations/run-command.ts';
import { type Erasure, eraseUser } from './erasure.ts';

const USAGE = 'user: there is one command, causeway user erase EMAIL|ID';

export async function runUser(config: Config, args: string[]): Promise<void> {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [command, whom, ...rest] = positionals;
  if (command !== 'erase' || whom === undefined || rest.length > 0) throw new ConfigError([USAGE]);
  const erasure = await runCommand(config, (ctx) => eraseEverywhere(ctx, config, whom));
  console.log(explain(erasure));
}

type Report = Erasure & { unreachable: string[] };

/** Links that were mailed must stop working too; that the signing provider does not answer stops nothing here. */
async function eraseEverywhere(ctx: Operator, config: Config, whom: string): Promise<Report> {
  const erasure = await eraseUser(ctx, whom);
  const links = erasure.openSubmissions;
  const unreachable: string[] = [];
  if (config.documents !== null && links.length > 0) {
    const signing = openDocuseal(config.documents);
    for (const id of links)
      await signing.archive(id).catch(() => unreachable.push(`signing provider: submission ${id}`));
    await signing.close();
  } else unreachable.push(...links.map((id) => `signing provider: submission ${id}`));
  return { ...erasure, unreachable };
}

function explain({ user_id, erased, kept, keep_until, applicantId, unreachable }: Report): string {
  const list = (lines: string[]) => lines.map((line) => `  - ${line}`).join('\n');
  const elsewhere = [
    ...(applicantId === null
      ? []
      : [`identity provider: applicant ${applicantId}; it keeps what its own duties ask for`]),
    ...unreachable,
  ];
  return [
    `User ${user_id} is erased.`,
    `Erased:\n${list(erased)}`,
    `Kept${keep_until === null ? '' : `, until ${keep_until.slice(0, 10)}`}:\n${list(kept)}`,
    ...(elsewhere.length > 0 ? [`Still to be asked for at others:\n${list(elsewhere)}`] : []),
  ].join('\n');
}
