import type { Hex } from 'viem';
import type { Chain, EvmChain } from '../wire.ts';
import type { Asset, OfferDetails, OfferType, OfferOption as WireOption } from './offer.ts';
import type { Requirement } from './requirement.ts';

/** An option of a stored offer. Decimal fields are strings with the same digits as in the offer file. */
export type OfferOption = WireOption & {
  /** Maximum age of an accreditation, in days. */
  accreditation_days: number;
  requirements: Requirement[];
};

export type FundingToken = { asset_id: string; address: string; decimals: number };

/** Why a contract cannot be read. */
export type ContractProblem = { code: 'contract_not_found' | 'contract_reverted'; reason: string };

/** A deployment of an offer. EVM addresses are in lower case, Solana addresses in base58. */
export type OfferContract = {
  chain: Chain;
  kind: 'fund' | 'swap';
  address: string;
  asset_address: string | null;
  /**
   * The address of the allow-list contract, which has the function `authorized` and, unless the issuer maintains the
   * list, `allow`. Null if the offer has no allow-list.
   */
  allow_list: string | null;
  /** The EIP-712 domain name, for contracts without `eip712Domain()`. */
  domain_name: string | null;
  /** The token account that receives commits on Solana. Null on EVM chains, where the fund itself holds the tokens. */
  vault: string | null;
  funding_tokens: FundingToken[];
  /** Why the contract cannot be read. While this is set, nobody can invest through the contract. */
  unreadable: ContractProblem | null;
};

/** A deployment on an EVM chain. A database constraint ensures that its addresses are EVM addresses. */
export type EvmContract = Omit<OfferContract, 'chain' | 'funding_tokens'> & {
  chain: EvmChain;
  address: Hex;
  asset_address: Hex | null;
  allow_list: Hex | null;
  funding_tokens: (FundingToken & { address: Hex })[];
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
  pending_hours: number | null;
  /** If false, every option must have an identity requirement in production. */
  open_to_anyone: boolean;
  published_at: string | null;
  closed_at: string | null;
  inserted_at: string;
  asset: Asset;
  funding_assets: Asset[];
  options: OfferOption[];
  contracts: OfferContract[];
};
