import { parseArgs } from 'node:util';
import { readSecondFactor, resetSecondFactor } from '../../domain/accounts/second-factor.ts';
import { explain } from '../../domain/eligibility/dry-run.ts';
import type { Check, Eligibility } from '../../domain/eligibility/schema.ts';
import { type Erasure, type ErasurePlan, eraseUser, planErasure } from '../../domain/erasure/erasure.ts';
import { releaseHold } from '../../domain/holdings/freeze.ts';
import { findOfferWithPartners } from '../../domain/offers/offer.ts';
import { approveCountry, listCountryChanges } from '../../domain/pii/country-change.ts';
import { createFactsOpener } from '../../domain/pii/sealed-data.ts';
import { readAcceptedSanctions } from '../../domain/screening/list.ts';
import { type HeldUser, type Hold, holdUser, showHolds } from '../../domain/users/hold.ts';
import { findUser, findUserByEmail } from '../../domain/users/store.ts';
import { permissionSupplier } from '../../domain/wallets/permission-supplier.ts';
import type { Config } from '../../kernel/config/config.ts';
import { ApiError, UsageError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import { plural } from '../../kernel/plural.ts';
import { createSignatures } from '../../platform/chain/signatures.ts';
import { httpOrigin } from '../../platform/http/listening.ts';
import { type CommandHelp, confirmByName, requireReason } from './command.ts';
import { type CommandContext, runCommand, withChains } from './run-command.ts';

export const help: CommandHelp = {
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

export async function run(config: Config, args: string[]): Promise<void> {
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
  const inDatabase = <T>(work: (ctx: CommandContext) => Promise<T>) => runCommand(config, work);
  switch (command) {
    case 'erase':
      return inDatabase((ctx) => erase(ctx, config, emailOrId, values));
    case 'approve-country':
      console.log(`Approved ${await inDatabase((ctx) => approveCountry(ctx, emailOrId))} country changes.`);
      return;
    case 'reset-second-factor': {
      const url = `${config.publicUrl ?? httpOrigin(config.host, config.port)}/account`;
      const isReset = await inDatabase(async (ctx) => {
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
      console.log(describeUser(await inDatabase((ctx) => holdUser(ctx, emailOrId, reason()))));
      return;
    case 'release':
      console.log(describeUser(await inDatabase((ctx) => releaseHold(ctx, emailOrId, reason()))));
      return;
    case 'explain':
      console.log(await inDatabase((ctx) => explainUser(ctx, config, emailOrId, offer)));
      return;
    case 'show': {
      const { holds, ...user } = await inDatabase((ctx) => showHolds(ctx, emailOrId));
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

async function erase(
  ctx: CommandContext,
  config: Config,
  emailOrId: string,
  { reason: text, yes }: { reason?: string; yes?: boolean },
): Promise<void> {
  const reason = requireReason('user erase', text);
  const plan = await planErasure(ctx, emailOrId);
  await confirmByName(describePlan(plan), plan.email, yes);
  console.log(describeErasure(await eraseUser(ctx, plan.id, reason), config));
}

function describePlan({ id, email, data, erasure }: ErasurePlan): string[] {
  const counts = [
    plural(data.wallets, 'wallet'),
    plural(data.participations, 'participation'),
    plural(data.orders, 'order'),
    plural(data.documents, 'open document'),
  ];
  const parts =
    erasure === null
      ? ['Wallets of this user are on allow-lists. This only starts to remove them; erase the user later.']
      : ['This closes the account for ever. To be erased:', ...listParts(erasure)];
  return [`${email} (${id})`, `  ${counts.join(', ')}`, ...parts];
}

/** The nodes archive the open signing links. If no signing provider is configured any more, lists these links. */
function describeErasure(erasure: Erasure, config: Config): string {
  const { user_id, applicantId, openSubmissions } = erasure;
  const requests = [
    ...(applicantId === null
      ? []
      : [
          `identity provider: delete applicant ${applicantId}, as far as the provider's own obligations allow`,
        ]),
    ...(config.documents === null ? openSubmissions : []).map(
      (id) => `signing provider: archive submission ${id}`,
    ),
  ];
  return [
    `Erased user ${user_id}.`,
    'Erased:',
    ...listParts(erasure),
    ...(requests.length > 0
      ? ['Still to be requested from external providers:', ...requests.map(toItem)]
      : []),
  ].join('\n');
}

function listParts({ erased, kept, keep_until }: Erasure): string[] {
  const until = keep_until === null ? '' : ` until ${keep_until.slice(0, 10)}, because the law requires it`;
  return [...erased.map(toItem), `Kept${until}:`, ...kept.map(toItem)];
}

function toItem(text: string): string {
  return `  - ${text}`;
}

const MARKS: Record<Check['status'], string> = {
  passed: '✓',
  waiting: '…',
  action_needed: '!',
  rejected: '✗',
};

/** Lists the same checks that the eligibility endpoint would return for the user, as one text tree per partner. */
async function explainUser(
  ctx: CommandContext,
  config: Config,
  emailOrId: string,
  idOrSlug: string,
): Promise<string> {
  const user = await (isId(emailOrId) ? findUser : findUserByEmail)(ctx.db, emailOrId);
  if (user === undefined) throw new ApiError('not_found', {}, { message: `User ${emailOrId} not found.` });
  const { offer, partners } = await findOfferWithPartners(ctx.db, idOrSlug);
  return withChains(config, async (chains) => {
    const parts = {
      ...{ ...ctx, config, chains, signatures: createSignatures(chains) },
      openPiiFacts: createFactsOpener(ctx.sealing),
      sanctions: await readAcceptedSanctions(ctx.db),
      supplier: permissionSupplier(() => null, ctx.clock),
    };
    const trees: string[] = [];
    for (const { id: partnerId, name } of partners) {
      const target = { wallet: null, chain: null };
      const found = await explain(parts, { userId: user.id, partnerId }, offer, target);
      trees.push(`${offer.slug} at ${name}: ${verdict(found)}`, ...describe(found, offer.options));
    }
    return trees.join('\n');
  });
}

function verdict({ eligible }: { eligible: boolean }): string {
  return eligible ? 'eligible' : 'not eligible';
}

function describe({ options }: Eligibility, stored: readonly OfferOption[]): string[] {
  return options.flatMap((option) => {
    const slug = stored.find(({ id }) => id === option.offer_option_id)?.slug ?? option.offer_option_id;
    return [`  ${slug}: ${verdict(option)}`, ...option.checks.map((check) => `    ${describeCheck(check)}`)];
  });
}

function describeCheck({ code, status, message, until, next }: Check): string {
  const path = next === null || next.path === null ? '' : ` ${next.method} ${next.path}`;
  const remedy = next === null ? '' : ` [next: ${next.type}${path}]`;
  return `${MARKS[status]} ${code} (${status}): ${message}${until === null ? '' : ` [until ${until}]`}${remedy}`;
}
