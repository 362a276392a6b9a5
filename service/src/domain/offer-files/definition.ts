import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import { stableJson } from '../../kernel/stable-json.ts';
import { normalizeAddress } from '../../platform/chain/address.ts';
import { requirementKey } from './file-rules.ts';
import type { FileRequirement, OfferFile } from './file-schema.ts';
import type { DocumentText, OfferReferences } from './references-store.ts';

export type NamedPartner = { id: string; name: string };

type Contract = {
  chain: string;
  address: string;
  asset_address: string | null;
  allow_list: string | null;
  domain_name: string | null;
  vault: string | null;
  funding_tokens: { asset: string; address: string }[];
};

/** An offer in normalized form, so that the offer in a file can be compared with the stored offer. */
export type OfferDefinition = Omit<OfferFile, 'partners' | 'assets' | 'contracts'> & {
  partners: NamedPartner[];
  contracts: Contract[];
};

export type Change = { path: string; from: string | null; to: string | null };

export function definitionFromFile(file: OfferFile, partners: NamedPartner[]): OfferDefinition {
  const { assets: _, ...offer } = file;
  return {
    ...offer,
    starts_at: toWireTime(file.starts_at),
    ends_at: toWireTime(file.ends_at),
    partners,
    contracts: file.contracts.map((contract) => ({
      chain: contract.chain,
      address: normalize(contract, contract.address),
      asset_address: contract.asset_address && normalize(contract, contract.asset_address),
      allow_list: allowListOf(contract),
      domain_name: contract.domain_name,
      vault: contract.vault,
      funding_tokens: contract.funding_tokens.map(({ asset, address }) => ({
        asset,
        address: normalize(contract, address),
      })),
    })),
  };
}

type FileContract = OfferFile['contracts'][number];

/** Lower-cases only EVM addresses, because Solana addresses (base58) are case-sensitive. */
function normalize({ chain }: FileContract, address: string): string {
  return normalizeAddress(chain, address) ?? address;
}

function allowListOf(contract: FileContract): string | null {
  const { allow_list, address } = contract;
  if (allow_list === false) return null;
  return normalize(contract, allow_list === true ? address : String(allow_list));
}

export function definitionFromOffer(offer: StoredOffer, partners: NamedPartner[]): OfferDefinition {
  const { slug, type, name, tagline, about, category, starts_at, logo_url, banner_url, symbol, fee_bps } =
    offer;
  return {
    ...{
      slug,
      type,
      name,
      tagline,
      about,
      category,
      starts_at,
      ends_at: offer.planned_end,
      logo_url,
      banner_url,
    },
    asset: offer.asset.id,
    funding_assets: offer.funding_assets.map(({ id }) => id),
    symbol,
    fee_bps,
    pending_hours: offer.pending_hours,
    open_to_anyone: offer.open_to_anyone,
    partners,
    options: offer.options.map(({ id: _, requirements, ...option }) => ({
      ...option,
      requirements: requirements.map(({ type, details }) => ({ type, details }) as FileRequirement),
    })),
    contracts: offer.contracts.map(({ kind: _, unreadable: __, funding_tokens, ...contract }) => ({
      ...contract,
      funding_tokens: funding_tokens.map(({ asset_id, address }) => ({ asset: asset_id, address })),
    })),
    terms: offer.terms,
    links: offer.links,
    faqs: offer.faqs,
    milestones: offer.milestones,
  };
}

export function definitionToFile({
  partners,
  contracts,
  ...offer
}: OfferDefinition): Omit<OfferFile, 'assets'> {
  return {
    ...offer,
    partners: partners.map(({ id }) => id),
    contracts: contracts.map(({ chain, allow_list, ...contract }) => ({
      chain: chain as OfferFile['contracts'][number]['chain'],
      ...contract,
      allow_list: allow_list === null ? false : allow_list === contract.address || allow_list,
    })),
  };
}

export function compareDefinitions(before: OfferDefinition | null, after: OfferDefinition): Change[] {
  const current = before === null ? new Map<string, string>() : flatten(before);
  const wanted = flatten(after);
  return [...new Set([...current.keys(), ...wanted.keys()])]
    .map((path) => ({ path, from: current.get(path) ?? null, to: wanted.get(path) ?? null }))
    .filter(({ from, to }) => from !== to);
}

/** Returns all values as text. A path names a list item by its key (such as a slug or chain), not by its index. */
function flatten({ options, contracts, partners, ...offer }: OfferDefinition): Map<string, string> {
  const values = new Map<string, string>();
  const add = (path: string, value: unknown) => void (value !== null && values.set(path, toText(value)));
  for (const [field, value] of Object.entries(offer)) add(field, value);
  add('partners', partners.map(({ id, name }) => `${name} (${id})`).sort());
  add(
    'options',
    options.map(({ slug }) => slug),
  );
  for (const { slug, requirements, ...option } of options) {
    for (const [field, value] of Object.entries(option)) add(`options.${slug}.${field}`, value);
    add(`options.${slug}.requirements`, requirements.map(requirementKey));
    for (const requirement of requirements)
      add(`options.${slug}.requirements.${requirementKey(requirement)}`, requirement.details);
  }
  add(
    'contracts',
    contracts.map(({ chain }) => chain),
  );
  for (const { chain, funding_tokens, ...contract } of contracts) {
    for (const [field, value] of Object.entries(contract))
      if (field !== 'chain') add(`contracts.${chain}.${field}`, value);
    add(
      `contracts.${chain}.funding_tokens`,
      funding_tokens.map(({ asset }) => asset),
    );
    for (const { asset, address } of funding_tokens)
      add(`contracts.${chain}.funding_tokens.${asset}`, address);
  }
  return values;
}

function toText(value: unknown): string {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ');
  return typeof value === 'string' ? value : stableJson(value);
}

function toWireTime(text: string | null): string | null {
  if (text === null) return null;
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const seconds = new Date(Date.parse(text.replace(/\.\d+/, ''))).toISOString().slice(0, 19);
  return `${seconds}.${fraction.padEnd(6, '0')}Z`;
}

/** Bindings of wallets stay valid when the offer's contracts change, so they do not block such a change. */
const BINDINGS = 'option_addresses';

/**
 * Returns why a change is unsafe, for example because it would alter the meaning of rows that reference the offer.
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

/** Returns the parts in which a document differs from a known text of the same version. */
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

/** Returns the changed or removed values that decide where payments go and what they buy. Additions are safe. */
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
