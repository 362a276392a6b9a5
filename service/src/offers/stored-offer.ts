import type { Hex } from 'viem';
import type { EvmChain } from '../http/wire.ts';
import type { Requirement } from '../requirements/schema.ts';
import type { Asset, OfferDetails, OfferType, OfferOption as WireOption } from './schema.ts';

/** An option of a stored offer. Decimal fields are strings with the digits of the offer file. */
export type OfferOption = WireOption & {
  /** Maximum age of an accreditation, in days. */
  accreditation_days: number;
  requirements: Requirement[];
};

export type FundingToken = { asset_id: string; address: Hex; decimals: number };

/** A deployment of an offer; addresses are in lower case. */
export type OfferContract = {
  chain: EvmChain;
  kind: 'fund' | 'swap';
  address: Hex;
  asset_address: Hex | null;
  /** The contract that `allow` is called on; null without an allow-list. */
  allow_list: Hex | null;
  /** The EIP-712 domain name, for contracts without `eip712Domain()`. */
  domain_name: string | null;
  funding_tokens: FundingToken[];
};

type Texts = Pick<OfferDetails, 'terms' | 'links' | 'faqs' | 'milestones'>;

export type StoredOffer = Texts & {
  id: string;
  slug: string;
  type: OfferType;
  name: string;
  tagline: string | null;
  about: string | null;
  category: string | null;
  starts_at: string | null;
  /** The earlier of `planned_end` and `closed_at`. */
  ends_at: string | null;
  planned_end: string | null;
  logo_url: string;
  banner_url: string | null;
  symbol: string | null;
  fee_bps: number | null;
  published_at: string | null;
  closed_at: string | null;
  inserted_at: string;
  asset: Asset;
  funding_assets: Asset[];
  options: OfferOption[];
  contracts: OfferContract[];
};
