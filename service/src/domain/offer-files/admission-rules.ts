import { WALLET_KINDS } from '../../kernel/model/requirement.ts';
import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import { stableJson } from '../../kernel/stable-json.ts';
import type { OfferFile } from './file-schema.ts';

/** Requirements that establish who the user is. */
const IDENTITY_KINDS: ReadonlySet<string> = new Set([
  'identity_verification',
  'kyc_approved',
  'accreditation',
]);

type Option = { accreditation_days: number; requirements: readonly { type: string; details: unknown }[] };

/**
 * Finds options that anyone could use without an identity check. An offer file can allow such options with
 * `open_to_anyone`.
 */
export function findUnidentifiedOptions({ slug, open_to_anyone, options }: OfferFile): string[] {
  if (open_to_anyone) return [];
  return options
    .filter(({ requirements }) => !requirements.some(({ type }) => IDENTITY_KINDS.has(type)))
    .map(
      (option) =>
        `${slug}: options.${option.slug}.requirements: has no identity requirement (${[...IDENTITY_KINDS].join(', ')}); ` +
        'add one, or set open_to_anyone: true in the file',
    );
}

/**
 * Returns a problem for each of `others` whose requirements differ from those of `offer`. All of `others` share an
 * allow-list with `offer`, so a wallet admitted by one of these offers can use them all.
 */
export function findAllowListConflicts(offer: StoredOffer, others: readonly StoredOffer[]): string[] {
  const rules = admissionRules(offer.type, offer.options);
  return others
    .filter(({ type, options }) => admissionRules(type, options) !== rules)
    .map(
      ({ slug }) =>
        `${offer.slug}: contracts: ${slug} has the same allow-list but different requirements, so a wallet that one offer ` +
        'admits can use both; give both the same requirements, or use another contract',
    );
}

/**
 * Returns a key for the rules by which an offer admits users to an allow-list. Offers with the same rules get the same
 * key. Leaves out wallet requirements and, for a tokenized swap, acknowledgements, because every order checks these
 * again.
 */
export function admissionRules(type: OfferFile['type'], options: readonly Option[]): string {
  return stableJson([...new Set(options.map((option) => rulesOf(type, option)))].sort());
}

function rulesOf(offerType: OfferFile['type'], { requirements, accreditation_days }: Option): string {
  const rules = requirements
    .filter(({ type }) => !WALLET_KINDS.has(type))
    .filter(({ type }) => type !== 'acknowledgement' || offerType !== 'tokenized::swap')
    .map(({ type, details }) => [type, details, type === 'accreditation' ? accreditation_days : null])
    .map(stableJson);
  return stableJson(rules.sort());
}
