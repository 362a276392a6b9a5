import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import { openDocuseal } from '../documents/docuseal.ts';
import { type CommandHelp, UsageError } from '../operations/command.ts';
import { type CommandContext, runCommand } from '../operations/run-command.ts';
import { approveCountry, listCountryChanges } from './country-change.ts';
import { type Erasure, eraseUser } from './erasure.ts';

export const USER_HELP: CommandHelp = {
  usage: ['user erase EMAIL|ID', 'user country-changes', 'user approve-country EMAIL|ID'],
  description:
    'Erases a user. The account is closed at once. Records that the law requires are kept, unreadable, until their retention period ends; everything else is deleted. The command lists what was erased, what is kept and why, and what to request from external providers. `country-changes` lists users who moved from a rejected to an accepted country, and `approve-country` accepts the new one.',
  examples: { 'user erase ada@example.com': 'Handle an erasure request' },
};

export async function runUser(config: Config, args: string[]): Promise<void> {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [command, emailOrId, ...rest] = positionals;
  if (command === 'country-changes' && emailOrId === undefined) return printCountryChanges(config);
  if (command === 'approve-country' && emailOrId !== undefined && rest.length === 0) {
    const count = await runCommand(config, (ctx) => approveCountry(ctx, emailOrId));
    return console.log(`Approved ${count} country changes.`);
  }
  if (command !== 'erase' || emailOrId === undefined || rest.length > 0)
    throw new UsageError(
      'user requires the command erase or approve-country with one email address or user id, or country-changes',
    );
  console.log(describe(await runCommand(config, (ctx) => eraseEverywhere(ctx, config, emailOrId))));
}

async function printCountryChanges(config: Config): Promise<void> {
  const place = (each: { country: string | null; region: string | null } | null) =>
    [each?.country ?? 'unknown', each?.region ?? ''].join(' ').trim();
  for (const { email, changed_at, from, to } of await runCommand(config, listCountryChanges))
    console.log([changed_at, email, `${place(from)} → ${place(to)}`].join('  '));
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
