import { findUser, findUserByEmail } from '../accounts/user.ts';
import { openChains } from '../chain/open-chains.ts';
import { createSignatures } from '../chain/signatures.ts';
import type { Config } from '../config.ts';
import { ApiError } from '../errors.ts';
import { isId } from '../http/ids.ts';
import { findOfferWithPartners } from '../offers/offer.ts';
import type { OfferOption } from '../offers/stored-offer.ts';
import type { CommandContext } from '../operations/run-command.ts';
import { createFactsOpener } from '../pii/sealed-data.ts';
import { readAcceptedSanctions } from '../screening/list.ts';
import { permissionSupplier } from '../wallets/permission-supplier.ts';
import { explain } from './dry-run.ts';
import type { Check, Eligibility } from './schema.ts';

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
    ...{ ...ctx, statements: ctx.pool, config, chains, signatures: createSignatures(chains) },
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
