import { explain } from '../../domain/eligibility/dry-run.ts';
import type { Check, Eligibility } from '../../domain/eligibility/schema.ts';
import { findOfferWithPartners } from '../../domain/offers/offer.ts';
import { createFactsOpener } from '../../domain/pii/sealed-data.ts';
import { readAcceptedSanctions } from '../../domain/screening/list.ts';
import { permissionSupplier } from '../../domain/wallets/permission-supplier.ts';
import type { Config } from '../../kernel/config/config.ts';
import { ApiError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import { openChains } from '../../platform/chain/open-chains.ts';
import { createSignatures } from '../../platform/chain/signatures.ts';
import type { CommandContext } from './run-command.ts';
import { findUser, findUserByEmail } from '../../domain/users/store.ts';

const MARKS: Record<Check['status'], string> = {
  passed: '✓',
  waiting: '…',
  action_needed: '!',
  rejected: '✗',
};

/**
 * Explains to operators whether a user can invest in an offer. Returns one text tree per partner, listing the same
 * checks that the eligibility endpoint would return for the user.
 */
export async function explainUser(
  ctx: CommandContext,
  config: Config,
  emailOrId: string,
  idOrSlug: string,
): Promise<string> {
  const user = await (isId(emailOrId) ? findUser : findUserByEmail)(ctx.db, emailOrId);
  if (user === undefined) throw new ApiError('not_found', {}, { message: `User ${emailOrId} not found.` });
  const { offer, partners } = await findOfferWithPartners(ctx.db, idOrSlug);
  const chains = openChains({ urls: config.rpcUrls, freshnessMs: config.rpcFreshnessMs });
  const parts = {
    ...{ ...ctx, config, chains, signatures: createSignatures(chains) },
    openPiiFacts: createFactsOpener(ctx.sealing),
    sanctions: await readAcceptedSanctions(ctx.db),
    supplier: permissionSupplier(() => null, ctx.clock),
  };
  try {
    const trees: string[] = [];
    for (const { id: partnerId, name } of partners) {
      const target = { wallet: null, chain: null };
      const found = await explain(parts, { userId: user.id, partnerId }, offer, target);
      trees.push(`${offer.slug} at ${name}: ${verdict(found)}`, ...describe(found, offer.options));
    }
    return trees.join('\n');
  } finally {
    await chains.close();
  }
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
