import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import { openDocuseal } from '../documents/docuseal.ts';
import { type CommandHelp, UsageError } from '../operations/command.ts';
import { type CommandContext, runCommand } from '../operations/run-command.ts';
import { type Erasure, eraseUser } from './erasure.ts';

export const USER_HELP: CommandHelp = {
  usage: ['user erase EMAIL|ID'],
  description:
    'Erases a user. The account is closed at once. Records that the law requires are kept, unreadable, until their retention period ends; everything else is deleted. The command lists what was erased, what is kept and why, and what to request from external providers.',
  examples: { 'user erase ada@example.com': 'Handle an erasure request' },
};

export async function runUser(config: Config, args: string[]): Promise<void> {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [command, emailOrId, ...rest] = positionals;
  if (command !== 'erase' || emailOrId === undefined || rest.length > 0)
    throw new UsageError('user requires the command erase with one email address or user id');
  console.log(describe(await runCommand(config, (ctx) => eraseEverywhere(ctx, config, emailOrId))));
}

type Report = Erasure & { pending: string[] };

/** Also archives open signing links. Links that could not be archived are reported, and do not stop the erasure. */
async function eraseEverywhere(ctx: CommandContext, config: Config, emailOrId: string): Promise<Report> {
  const erasure = await eraseUser(ctx, emailOrId);
  const pending = (id: number) => `signing provider: archive submission ${id}`;
  const { openSubmissions } = erasure;
  if (config.documents === null) return { ...erasure, pending: openSubmissions.map(pending) };
  if (openSubmissions.length === 0) return { ...erasure, pending: [] };
  const failed: number[] = [];
  const signing = openDocuseal(config.documents);
  for (const id of openSubmissions) await signing.archive(id).catch(() => failed.push(id));
  await signing.close();
  return { ...erasure, pending: failed.map(pending) };
}

function describe({ user_id, erased, kept, keep_until, applicantId, pending }: Report): string {
  const list = (lines: string[]) => lines.map((line) => `  - ${line}`).join('\n');
  const requests = [
    ...(applicantId === null
      ? []
      : [`identity provider: delete applicant ${applicantId}, as far as its own obligations allow`]),
    ...pending,
  ];
  return [
    `Erased user ${user_id}.`,
    `Erased:\n${list(erased)}`,
    `Kept${keep_until === null ? '' : ` until ${keep_until.slice(0, 10)}`}:\n${list(kept)}`,
    ...(requests.length > 0 ? [`Still to be requested from external providers:\n${list(requests)}`] : []),
  ].join('\n');
}
