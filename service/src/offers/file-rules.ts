import { isId } from '../http/ids.ts';
import type { Problem } from '../http/validation.ts';
import type { FileRequirement, OfferFile } from './file-schema.ts';

type Say = (path: string, message: string) => void;

/** The rules of an offer's file that its schema cannot say. */
export function checkOfferFile(file: OfferFile): Problem[] {
  const problems: Problem[] = [];
  const say: Say = (path, message) => void problems.push({ path, message });
  if (isId(file.slug)) say('slug', 'must not look like an id');
  checkWindow(file, say);
  checkType(file, say);
  checkOptions(file, say);
  checkContracts(file, say);
  file.funding_assets.forEach((asset, index) => {
    const transfers = file.assets[asset]?.transfers ?? 'exact';
    if (transfers !== 'exact')
      say(`funding_assets.${index}`, `${asset} cannot fund an offer: its transfers are ${transfers}`);
  });
  sayRepeated(file.funding_assets, (index) => `funding_assets.${index}`, say);
  sayRepeated(file.partners, (index) => `partners.${index}`, say);
  return problems;
}

function checkWindow({ starts_at, ends_at }: OfferFile, say: Say): void {
  for (const [path, time] of Object.entries({ starts_at, ends_at })) {
    if (time !== null && Number.isNaN(Date.parse(time))) say(path, 'is not a time that exists');
  }
  if (starts_at !== null && ends_at !== null && Date.parse(ends_at) <= Date.parse(starts_at))
    say('ends_at', 'must be after starts_at');
}

function checkType(file: OfferFile, say: Say): void {
  const isTokenized = file.type === 'tokenized::swap';
  for (const field of ['tagline', 'banner_url'] as const)
    if (!isTokenized && file[field] === null) say(field, `is required for ${file.type}`);
  for (const field of ['symbol', 'fee_bps'] as const) {
    if (isTokenized && file[field] === null) say(field, 'is required for tokenized::swap');
    if (!isTokenized && file[field] !== null) say(field, 'is for tokenized::swap only');
  }
  if (file.type !== 'platform::token_sale' && file.options.length > 1)
    say('options.1', 'a swap has one option: its transactions do not name one');
}

function checkOptions({ options }: OfferFile, say: Say): void {
  sayRepeated(
    options.map(({ slug }) => slug),
    (index) => `options.${index}.slug`,
    say,
  );
  options.forEach(({ requirements }, option) => {
    const keys = requirements.map(requirementKey);
    sayRepeated(keys, (index) => `options.${option}.requirements.${index}`, say);
  });
}

function checkContracts({ type, contracts, funding_assets }: OfferFile, say: Say): void {
  sayRepeated(
    contracts.map(({ chain }) => chain),
    (index) => `contracts.${index}.chain`,
    say,
  );
  contracts.forEach((contract, index) => {
    const at = `contracts.${index}`;
    if (type === 'tokenized::swap' && contract.asset_address === null)
      say(`${at}.asset_address`, 'is required for tokenized::swap');
    if (type === 'platform::token_sale' && contract.allow_list !== false)
      say(`${at}.allow_list`, 'is for swaps only');
    sayRepeated(
      contract.funding_tokens.map(({ asset }) => asset),
      (token) => `${at}.funding_tokens.${token}.asset`,
      say,
    );
    sayRepeated(
      contract.funding_tokens.map(({ address }) => address.toLowerCase()),
      (token) => `${at}.funding_tokens.${token}.address`,
      say,
    );
    contract.funding_tokens.forEach(({ asset }, token) => {
      if (!funding_assets.includes(asset))
        say(`${at}.funding_tokens.${token}.asset`, `${asset} is not among the funding_assets`);
    });
  });
}

function sayRepeated(values: readonly string[], pathOf: (index: number) => string, say: Say): void {
  values.forEach((value, index) => {
    if (values.indexOf(value) !== index) say(pathOf(index), `${value} stands here twice`);
  });
}

/** What a requirement is known by in its option, whatever else about it changes. */
export function requirementKey({ type, details }: FileRequirement): string {
  switch (type) {
    case 'external_wallet':
      return `${type} ${details.protocol}`;
    case 'document':
      return `${type} ${details.document_type}`;
    case 'jurisdiction':
      return `${type} ${details.filter_type}`;
    default:
      return type;
  }
}
