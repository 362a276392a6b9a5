import { type Erasure, type ErasurePlan, eraseUser, planErasure } from '../../domain/erasure/erasure.ts';
import type { Config } from '../../kernel/config/config.ts';
import { plural } from '../../kernel/plural.ts';
import { requireReason } from './command.ts';
import { confirmByName } from './confirm.ts';
import type { CommandContext } from './run-command.ts';

/** Prints what erasing the user would erase and keep, asks for confirmation, erases the user and prints a report. */
export async function erase(
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
