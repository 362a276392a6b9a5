import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import { stableJson } from '../../kernel/stable-json.ts';
import { normalizeAddress } from '../../platform/chain/address.ts';
import { requirementKey } from './file-rules.ts';
import type { FileRequirement, OfferFile } from './file-schema.ts';

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

/**
 * Lower-cases only EVM addresses, because Solana addresses (base58) are case-sensitive. `file-rules.ts` has already
 * checked the format.
 */
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

/** Returns the offer file that produces this definition. */
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

/**
 * Returns all values as text, keyed by path. A path identifies a list item by its key (such as a slug, chain or asset),
 * not by its index.
 */
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
