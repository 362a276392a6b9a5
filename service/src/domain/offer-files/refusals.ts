import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import type { OfferDefinition } from './definition.ts';
import type { FileRequirement } from './file-schema.ts';
import type { DocumentText, OfferReferences } from './references-store.ts';

/**
 * The table of bound wallets. Unlike payments, bindings stay valid when the offer's contracts change, so bindings do
 * not block such a change.
 */
const BINDINGS = 'option_addresses';

/**
 * Returns the reasons why a change is unsafe, for example because it would alter the meaning of existing rows that
 * reference the offer.
 */
export function findRefusals(
  before: StoredOffer,
  after: OfferDefinition,
  references: OfferReferences,
  optionsInProgress: readonly string[],
  acknowledged: readonly DocumentText[],
): string[] {
  const refusals: string[] = [];
  const refuse = (path: string, tables: Iterable<string>, reason: string) =>
    void refusals.push(`${before.slug}: ${path}: ${reason}: in use by ${[...tables].sort().join(', ')}`);

  for (const { id, slug, requirements, price_usd } of before.options) {
    const tables = references.options.get(id) ?? new Set();
    const wanted = after.options.find((option) => option.slug === slug);
    if (wanted === undefined && tables.size > 0) refuse(`options.${slug}`, tables, 'cannot be removed');
    if (wanted !== undefined && optionsInProgress.includes(id) && !isSameAmount(price_usd, wanted.price_usd))
      refuse(`options.${slug}.price_usd`, ['participations in progress'], 'cannot be changed');
    const keepsAllWallets = (list: readonly { type: string }[]) =>
      list.some(({ type }) => type === 'whitelisted_wallet');
    if (
      wanted !== undefined &&
      tables.has(BINDINGS) &&
      keepsAllWallets(requirements) &&
      !keepsAllWallets(wanted.requirements)
    )
      refuse(`options.${slug}.requirements.whitelisted_wallet`, [BINDINGS], 'cannot be removed');
  }
  const known = [...before.options.flatMap(({ requirements }) => documentsOf(requirements)), ...acknowledged];
  for (const { slug, requirements } of after.options)
    for (const text of documentsOf(requirements))
      for (const part of findRewritten(known, text))
        refusals.push(
          `${before.slug}: options.${slug}.requirements.acknowledgement ${text.document}: ${part} has changed; give the ` +
            'document a new version',
        );
  if (before.type !== after.type && references.offer.size > 0)
    refuse('type', references.offer, 'cannot be changed');
  const payments = new Set([...references.offer].filter((table) => table !== BINDINGS));
  if (payments.size > 0)
    for (const path of listPaymentChanges(before, after)) refuse(path, payments, 'cannot be changed');
  return refusals;
}

/**
 * Checks whether a document was changed without a new version. Compares the document with all known texts of the same
 * version: those in the stored offer, and those that users have acknowledged. Returns the parts that differ.
 */
function findRewritten(known: readonly DocumentText[], text: DocumentText): ('sha256' | 'url')[] {
  const same = known.filter(
    ({ document, version }) => document === text.document && version === text.version,
  );
  return (['sha256', 'url'] as const).filter((part) => same.some((each) => each[part] !== text[part]));
}

function documentsOf(requirements: readonly FileRequirement[]): DocumentText[] {
  return requirements.flatMap((each) => (each.type === 'acknowledgement' ? [each.details] : []));
}

/** `1.50` and `1.5` are the same price. */
function isSameAmount(a: string | null, b: string | null): boolean {
  const shorten = (amount: string | null) => amount?.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
  return shorten(a) === shorten(b);
}

/**
 * Returns the paths of changed or removed values that decide where payments go and what they buy. Leaves out additions,
 * because they are safe.
 */
function listPaymentChanges(before: StoredOffer, after: OfferDefinition): string[] {
  const paths: string[] = [];
  if (before.asset.id !== after.asset) paths.push('asset');
  if (before.symbol !== after.symbol) paths.push('symbol');
  for (const { id } of before.funding_assets)
    if (!after.funding_assets.includes(id)) paths.push(`funding_assets.${id}`);
  for (const contract of before.contracts) {
    const at = `contracts.${contract.chain}`;
    const wanted = after.contracts.find(({ chain }) => chain === contract.chain);
    if (wanted === undefined) {
      paths.push(at);
      continue;
    }
    if (wanted.address !== contract.address) paths.push(`${at}.address`);
    if (wanted.vault !== contract.vault) paths.push(`${at}.vault`);
    if (wanted.asset_address !== contract.asset_address) paths.push(`${at}.asset_address`);
    for (const { asset_id, address } of contract.funding_tokens) {
      const token = wanted.funding_tokens.find(({ asset }) => asset === asset_id);
      if (token?.address !== address) paths.push(`${at}.funding_tokens.${asset_id}`);
    }
  }
  return paths;
}
