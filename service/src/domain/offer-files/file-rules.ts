import { chainFacts } from '../../kernel/chains.ts';
import { isId } from '../../kernel/ids.ts';
import { WALLET_KINDS } from '../../kernel/model/requirement.ts';
import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import { closestRegion } from '../../kernel/places/closest-region.ts';
import { findCountry } from '../../kernel/places/countries.ts';
import { findRegion } from '../../kernel/places/regions.ts';
import { stableJson } from '../../kernel/stable-json.ts';
import type { Problem } from '../../kernel/validation.ts';
import { normalizeAddress } from '../../platform/chain/address.ts';
import type { FileRequirement, OfferFile } from './file-schema.ts';

type Report = (path: string, message: string) => void;

export function checkOfferFile(file: OfferFile): Problem[] {
  const problems: Problem[] = [];
  const report: Report = (path, message) => void problems.push({ path, message });
  if (isId(file.slug)) report('slug', 'must not look like an id');
  checkWindow(file, report);
  checkType(file, report);
  checkOptions(file, report);
  checkContracts(file, report);
  file.funding_assets.forEach((asset, index) => {
    const transfers = file.assets[asset]?.transfers ?? 'exact';
    if (transfers !== 'exact')
      report(
        `funding_assets.${index}`,
        `${asset} cannot fund an offer: its transfers are "${transfers}", not "exact"`,
      );
  });
  reportRepeated(file.funding_assets, (index) => `funding_assets.${index}`, report);
  reportRepeated(file.partners, (index) => `partners.${index}`, report);
  return problems;
}

function checkWindow({ starts_at, ends_at }: OfferFile, report: Report): void {
  for (const [path, time] of Object.entries({ starts_at, ends_at })) {
    if (time !== null && Number.isNaN(Date.parse(time))) report(path, 'is not a valid time');
  }
  if (starts_at !== null && ends_at !== null && Date.parse(ends_at) <= Date.parse(starts_at))
    report('ends_at', 'must be after starts_at');
}

function checkType(file: OfferFile, report: Report): void {
  const isTokenized = file.type === 'tokenized::swap';
  for (const field of ['tagline', 'banner_url'] as const)
    if (!isTokenized && file[field] === null) report(field, `is required for ${file.type}`);
  for (const field of ['symbol', 'fee_bps'] as const)
    if (isTokenized && file[field] === null) report(field, 'is required for tokenized::swap');
  if (!isTokenized && file.symbol !== null) report('symbol', 'is only allowed for tokenized::swap');
  if (file.type === 'platform::token_sale' && file.fee_bps !== null)
    report('fee_bps', 'is only allowed for swaps');
  if (file.type !== 'platform::token_sale' && file.options.length > 1)
    report('options.1', 'a swap has exactly one option');
}

function checkOptions({ type, options, contracts }: OfferFile, report: Report): void {
  reportRepeated(
    options.map(({ slug }) => slug),
    (index) => `options.${index}.slug`,
    report,
  );
  const isOnSolana = contracts.some(({ chain }) => chainFacts(chain).protocol === 'solana');
  options.forEach(({ requirements, minimum_purchase_usd }, option) => {
    if (isOnSolana && !/[1-9]/.test(minimum_purchase_usd ?? ''))
      report(
        `options.${option}.minimum_purchase_usd`,
        'is required on Solana and must be greater than 0, because each participation costs the operator about 0.002 SOL',
      );
    const keys = requirements.map(requirementKey);
    reportRepeated(keys, (index) => `options.${option}.requirements.${index}`, report);
    checkJurisdictions(requirements, `options.${option}.requirements`, report);
  });
  checkDocuments(options, report);
  if (type === 'fund::swap' && contracts.some(({ allow_list }) => allow_list === false))
    options.forEach(({ requirements }, option) => {
      const index = requirements.findIndex((requirement) => requirement.type === 'acknowledgement');
      if (index >= 0)
        report(
          `options.${option}.requirements.${index}`,
          'acknowledgement requires an allow-list on every contract, because users call a fund::swap contract themselves',
        );
    });
  const hasAllowList = contracts.some(({ allow_list }) => allow_list !== false);
  const rules = new Set(options.map((option) => admissionRules(type, [option])));
  if (hasAllowList && rules.size > 1)
    report('options', 'must all have the same requirements: the allow-list admits a wallet to every option');
}

/** One acknowledgement of a document counts for all options, so its details must be the same in all options. */
function checkDocuments(options: OfferFile['options'], report: Report): void {
  const texts = new Map<string, string>();
  options.forEach(({ requirements }, option) => {
    requirements.forEach(({ type, details }, index) => {
      if (type !== 'acknowledgement') return;
      const text = stableJson(details);
      if ((texts.get(details.document) ?? text) !== text)
        report(
          `options.${option}.requirements.${index}.details`,
          `${details.document} must be the same in every option`,
        );
      texts.set(details.document, text);
    });
  });
}

function checkContracts({ type, contracts, funding_assets }: OfferFile, report: Report): void {
  reportRepeated(
    contracts.map(({ chain }) => chain),
    (index) => `contracts.${index}.chain`,
    report,
  );
  contracts.forEach((contract, index) => {
    const at = `contracts.${index}`;
    if (type === 'tokenized::swap' && contract.asset_address === null)
      report(`${at}.asset_address`, 'is required for tokenized::swap');
    if (type === 'platform::token_sale' && contract.allow_list !== false)
      report(`${at}.allow_list`, 'is only allowed for swaps');
    reportRepeated(
      contract.funding_tokens.map(({ asset }) => asset),
      (token) => `${at}.funding_tokens.${token}.asset`,
      report,
    );
    checkAddresses(contract, at, report);
    if (chainFacts(contract.chain).protocol === 'solana') checkSolana(type, contract, at, report);
    else if (contract.vault !== null) report(`${at}.vault`, 'is only allowed on Solana');
    reportRepeated(
      contract.funding_tokens.map(({ address }) => normalizeAddress(contract.chain, address) ?? address),
      (token) => `${at}.funding_tokens.${token}.address`,
      report,
    );
    contract.funding_tokens.forEach(({ asset }, token) => {
      if (!funding_assets.includes(asset))
        report(`${at}.funding_tokens.${token}.asset`, `${asset} is not one of the funding_assets`);
    });
  });
}

type Contract = OfferFile['contracts'][number];

function checkAddresses(contract: Contract, at: string, report: Report): void {
  const { chain, address, asset_address, allow_list, vault, funding_tokens } = contract;
  const addresses = {
    address,
    asset_address,
    allow_list: typeof allow_list === 'string' ? allow_list : null,
    vault,
    ...Object.fromEntries(
      funding_tokens.map((token, index) => [`funding_tokens.${index}.address`, token.address]),
    ),
  };
  for (const [path, value] of Object.entries(addresses))
    if (value !== null && normalizeAddress(chain, value) === null)
      report(`${at}.${path}`, `is not an address on ${chain}`);
}

/** Checks a contract on Solana. It can have only one funding asset, because its vault holds only one token. */
function checkSolana(type: OfferFile['type'], contract: Contract, at: string, report: Report): void {
  if (type !== 'platform::token_sale') report(`${at}.chain`, 'Solana is supported for token sales only');
  if (contract.vault === null) report(`${at}.vault`, 'is required on Solana');
  if (contract.domain_name !== null) report(`${at}.domain_name`, 'is not allowed on Solana');
  if (contract.funding_tokens.length > 1)
    report(`${at}.funding_tokens.1`, 'a fund on Solana can have only one funding asset');
}

function reportRepeated(values: readonly string[], pathOf: (index: number) => string, report: Report): void {
  values.forEach((value, index) => {
    if (values.indexOf(value) !== index) report(pathOf(index), `${value} is repeated`);
  });
}

/** Identifies the requirement within its option. Changes to details that are not in the key leave it unchanged. */
export function requirementKey({ type, details }: FileRequirement): string {
  switch (type) {
    case 'external_wallet':
      return `${type} ${details.protocol}`;
    case 'document':
      return `${type} ${details.document_type}`;
    case 'jurisdiction':
      return `${type} ${details.filter_type}`;
    case 'acknowledgement':
      return `${type} ${details.document}`;
    default:
      return type;
  }
}

/** Common mistakes: codes that are not ISO 3166-1 country codes, each with the code that people mean. */
const USUAL_MISTAKES: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' };

/** Reports countries and regions that do not exist, because a rule about them would match nobody. */
function checkJurisdictions(requirements: readonly FileRequirement[], at: string, report: Report): void {
  requirements.forEach((requirement, index) => {
    if (requirement.type !== 'jurisdiction') return;
    requirement.details.filters.forEach(({ country_iso_2: code, regions = [] }, filter) => {
      const path = `${at}.${index}.details.filters.${filter}`;
      const country = findCountry(code);
      if (country === null) report(`${path}.country_iso_2`, unknownCountry(code));
      regions.forEach((region, position) => {
        if (country !== null && findRegion(code, region) === null)
          report(`${path}.regions.${position}`, unknownRegion(code, country.name, region));
      });
    });
  });
}

function unknownCountry(code: string): string {
  const meant = USUAL_MISTAKES[code];
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return `${code} is not an ISO 3166-1 country code${hint}`;
}

function unknownRegion(code: string, country: string, region: string): string {
  const closest = closestRegion(code, region);
  const hint =
    closest === null
      ? `; use an ISO 3166-2 code without the prefix "${code}-"`
      : `; did you mean ${closest.code.slice(3)} (${closest.name})?`;
  return `${region} is not a region of ${country}${hint}`;
}

/** Requirements that establish who the user is. */
const IDENTITY_KINDS: ReadonlySet<string> = new Set([
  'identity_verification',
  'kyc_approved',
  'accreditation',
]);

type AdmittingOption = {
  accreditation_days: number;
  requirements: readonly { type: string; details: unknown }[];
};

/** Finds options that anyone could use without an identity check, unless the file says `open_to_anyone`. */
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

/** A wallet admitted by one of several offers that share an allow-list can use them all. */
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
 * Offers with the same rules of admission get the same key. Leaves out wallet requirements and, for a tokenized swap,
 * acknowledgements, because every order checks these again.
 */
export function admissionRules(type: OfferFile['type'], options: readonly AdmittingOption[]): string {
  return stableJson([...new Set(options.map((option) => rulesOf(type, option)))].sort());
}

function rulesOf(
  offerType: OfferFile['type'],
  { requirements, accreditation_days }: AdmittingOption,
): string {
  const rules = requirements
    .filter(({ type }) => !WALLET_KINDS.has(type))
    .filter(({ type }) => type !== 'acknowledgement' || offerType !== 'tokenized::swap')
    .map(({ type, details }) => [type, details, type === 'accreditation' ? accreditation_days : null])
    .map(stableJson);
  return stableJson(rules.sort());
}
