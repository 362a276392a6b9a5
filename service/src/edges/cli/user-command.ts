import { parseArgs } from 'node:util';
import { readSecondFactor, resetSecondFactor } from '../../domain/accounts/second-factor.ts';
import { releaseHold } from '../../domain/holdings/freeze.ts';
import { approveCountry, listCountryChanges } from '../../domain/pii/country-change.ts';
import { type HeldUser, type Hold, holdUser, showHolds } from '../../domain/users/hold.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import { plural } from '../../kernel/plural.ts';
import { httpOrigin } from '../../platform/http/origin.ts';
import { type CommandHelp, requireReason } from './command.ts';
import { confirmByName } from './confirm.ts';
import { erase } from './erase-command.ts';
import { explainUser } from './explain-user.ts';
import { type CommandContext, runCommand } from './run-command.ts';

export const USER_HELP: CommandHelp = {
  usage: [
    'user erase EMAIL|ID --reason TEXT [--yes]',
    'user hold EMAIL|ID --reason TEXT',
    'user release EMAIL|ID --reason TEXT',
    'user show EMAIL|ID',
    'user reset-second-factor EMAIL|ID [--yes]',
    'user explain EMAIL|ID OFFER',
    'user country-changes',
    'user approve-country EMAIL|ID',
  ],
  description: 'Shows users, erases them or puts them on hold, and helps them to regain access.',
  commands: {
    erase:
      'Closes the account immediately. Keeps the records that the law requires, unreadable, until their retention period ends, and deletes everything else. First prints what is erased and what is kept, and asks for the email address of the user. Then prints what to request from external providers. The reason is stored in the audit log.',
    hold: 'Stops everything except signing in and reading: commits and refunds wait, and the account cannot be erased. Only operators see the reason.',
    release: 'Ends a hold.',
    show: 'Prints the user and whether the account is on hold, with the reason.',
    'reset-second-factor':
      'Turns off two-step sign-in for a user who lost the authenticator app and the recovery codes, signs the user out everywhere and sends the user an email. First verify who is asking. Asks for the email address of the user.',
    explain:
      'Prints every check that decides whether the user can invest in an offer, with the result that the app shows and what the user can do next. OFFER is the slug or id of the offer.',
    'country-changes': 'Lists users who moved from a rejected to an accepted country.',
    'approve-country': 'Accepts the new country of a user whom country-changes lists.',
  },
  options: {
    '--reason TEXT': 'Reason, recorded for operators',
    '--yes': 'Erase or reset without asking for confirmation',
  },
  examples: {
    'user erase ada@example.com --reason "request 12"': 'Handle an erasure request',
    'user hold ada@example.com --reason "alert 4711"': "Stop all of a user's activity",
    'user show ada@example.com': 'Show whether a user is on hold, and why',
    'user explain ada@example.com harbour-sale': 'Find out why a user cannot invest',
  },
};

export async function runUser(config: Config, args: string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { reason: { type: 'string' }, yes: { type: 'boolean' } },
  });
  const [command, emailOrId, ...rest] = positionals;
  if (command === 'country-changes' && emailOrId === undefined) return printCountryChanges(config);
  const [offer, ...more] = command === 'explain' ? rest : ['', ...rest];
  if (emailOrId === undefined || more.length > 0)
    throw new UsageError(
      'user requires a command (erase, hold, release, show, explain, reset-second-factor or approve-country) and one email address or user id',
    );
  if (offer === undefined) throw new UsageError('user explain requires the slug or id of an offer');
  const reason = () => requireReason(`user ${command}`, values.reason);
  const run = <T>(work: (ctx: CommandContext) => Promise<T>) => runCommand(config, work);
  switch (command) {
    case 'erase':
      return run((ctx) => erase(ctx, config, emailOrId, values));
    case 'approve-country':
      console.log(`Approved ${await run((ctx) => approveCountry(ctx, emailOrId))} country changes.`);
      return;
    case 'reset-second-factor': {
      const url = `${config.publicUrl ?? httpOrigin(config.host, config.port)}/account`;
      const isReset = await run(async (ctx) => {
        const { id, email } = await showHolds(ctx, emailOrId);
        const { isOn, recoveryCodes } = await readSecondFactor(ctx, id);
        const preview = [
          `This turns off two-step sign-in of ${email} (${id}), deletes ${plural(recoveryCodes, 'recovery code')}`,
          'and ends all sessions. Only the user can turn it on again.',
        ];
        if (isOn) await confirmByName(preview, email, values.yes);
        return resetSecondFactor(ctx, id, url);
      });
      console.log(
        isReset
          ? 'Turned off two-step sign-in and ended all sessions.'
          : 'Two-step sign-in was already off, so nothing was changed.',
      );
      return;
    }
    case 'hold':
      console.log(describeUser(await run((ctx) => holdUser(ctx, emailOrId, reason()))));
      return;
    case 'release':
      console.log(describeUser(await run((ctx) => releaseHold(ctx, emailOrId, reason()))));
      return;
    case 'explain':
      console.log(await run((ctx) => explainUser(ctx, config, emailOrId, offer)));
      return;
    case 'show': {
      const { holds, ...user } = await run((ctx) => showHolds(ctx, emailOrId));
      console.log([describeUser(user), ...holds.map(describeHold)].join('\n'));
      return;
    }
    default:
      throw new UsageError(
        `unknown command "user ${command}"; use erase, hold, release, show, explain, reset-second-factor, country-changes or approve-country`,
      );
  }
}

function describeUser({ id, email, isHeld }: HeldUser): string {
  return `User ${id} (${email}) is ${isHeld ? 'on hold' : 'not on hold'}.`;
}

function describeHold({ reason, held_at, release_reason, released_at }: Hold): string {
  const end = released_at === null ? '' : `\n  released ${released_at}: ${release_reason}`;
  return `  held ${held_at}: ${reason}${end}`;
}

async function printCountryChanges(config: Config): Promise<void> {
  const place = (each: { country: string | null; region: string | null } | null) =>
    [each?.country ?? 'unknown', each?.region ?? ''].join(' ').trim();
  for (const { email, changed_at, from, to } of await runCommand(config, listCountryChanges))
    console.log([changed_at, email, `${place(from)} → ${place(to)}`].join('  '));
}
