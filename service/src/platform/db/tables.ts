import type { ColumnType, Generated } from 'kysely';
import type { AccountTables } from './account-tables.ts';
import type { AuditTables } from './audit-tables.ts';
import type { IdentityTables } from './identity-tables.ts';
import type { InstallationTables } from './installation-tables.ts';
import type { OauthTables } from './oauth-tables.ts';
import type { ReportedTables } from './reported-tables.ts';
import type { ScreeningTables } from './screening-tables.ts';
import type { SettlementTables } from './settlement-tables.ts';
import type { TokenizedTables } from './tokenized-tables.ts';
import type { WalletTables } from './wallet-tables.ts';
import type { WebhookTables } from './webhook-tables.ts';

/**
 * The table types for queries, named as in the migrations. `column-types.ts` determines the column types: timestamptz
 * is `string`, int8 is `bigint`, numeric is `string`.
 */
export interface Database
  extends WalletTables,
    AccountTables,
    AuditTables,
    IdentityTables,
    InstallationTables,
    ReportedTables,
    OauthTables,
    ScreeningTables,
    SettlementTables,
    TokenizedTables,
    WebhookTables {
  schema_migrations: SchemaMigrations;
  idempotency_keys: IdempotencyKeys;
  rate_limits: RateLimits;
  partners: Partners;
  oauth_clients: OauthClients;
  oauth_tokens: OauthTokens;
  oauth_artifacts: OauthArtifacts;
  oauth_signing_keys: OauthSigningKeys;
  users: Users;
  user_holds: UserHolds;
  assets: Assets;
  offers: Offers;
  offer_options: OfferOptions;
  requirements: Requirements;
  acknowledgements: AcknowledgementRow;
  offer_partners: OfferPartners;
  offer_funding_assets: OfferFundingAssets;
  offer_contracts: OfferContracts;
  offer_funding_tokens: OfferFundingTokens;
}

export interface SchemaMigrations {
  name: string;
  sha256: string;
  applied_at: string;
}

export interface IdempotencyKeys {
  id: Buffer;
  request_tag: Buffer;
  node: number;
  lease_until: string;
  outcome: Buffer | null;
  inserted_at: Generated<string>;
}

export interface RateLimits {
  key: string;
  count: number;
  window_end: string;
}

export interface Partners {
  id: string;
  name: string;
  logo_url: string | null;
  origins: Generated<string[]>;
  contact_email: Generated<string | null>;
  disabled_at: string | null;
  tokens_valid_from: Generated<string>;
  inserted_at: Generated<string>;
}

export interface OauthClients {
  client_id: string;
  partner_id: string;
  redirect_uris: string[];
  post_logout_redirect_uris: Generated<string[]>;
  scopes: string[];
  secret_hash: Buffer;
  previous_secret_hash: Buffer | null;
  previous_secret_until: string | null;
  inserted_at: Generated<string>;
}

export interface OauthTokens {
  hash: Buffer;
  client_id: string;
  grant_id: string | null;
  user_id: string | null;
  scope: string;
  payload: JsonObject;
  issued_at: string;
  expires_at: string;
  inserted_at: Generated<string>;
}

export interface OauthArtifacts {
  kind: string;
  hash: Buffer;
  grant_id: string | null;
  uid: string | null;
  payload: JsonObject;
  expires_at: string;
  consumed_at: string | null;
  inserted_at: Generated<string>;
}

export interface OauthSigningKeys {
  kid: string;
  sealed: Buffer;
  inserted_at: Generated<string>;
  retired_at: string | null;
}

/** Read as an object, written as JSON text. */
type JsonObject = ColumnType<Record<string, unknown>, string, string>;

export interface Users {
  id: string;
  email: string;
  kind: 'person' | 'company';
  password_hash: string | null;
  email_confirmed_at: Generated<string>;
  inserted_at: Generated<string>;
  held_at: Generated<string | null>;
  locale: Generated<string | null>;
}

export interface UserHolds {
  id: string;
  user_id: string;
  reason: string;
  held_at: string;
  release_reason: Generated<string | null>;
  released_at: Generated<string | null>;
}

export interface Assets {
  id: string;
  code: string;
  name: string;
  fractional_digits: number;
  transfers: Generated<'exact' | 'fee_on_transfer' | 'rebasing'>;
  inserted_at: Generated<string>;
}

export interface Offers {
  id: string;
  slug: string;
  type: 'platform::token_sale' | 'fund::swap' | 'tokenized::swap';
  name: string;
  tagline: string | null;
  about: string | null;
  category: string | null;
  starts_at: string | null;
  ends_at: string | null;
  logo_url: string;
  banner_url: string | null;
  asset_id: string;
  symbol: string | null;
  fee_bps: number | null;
  pending_hours: Generated<number | null>;
  open_to_anyone: Generated<boolean>;
  terms: JsonList;
  links: JsonList;
  faqs: JsonList;
  milestones: JsonList;
  published_at: Generated<string | null>;
  closed_at: Generated<string | null>;
  inserted_at: string;
  updated_at: string;
}

/** Read as a list, written as JSON text. */
type JsonList = ColumnType<unknown[], string, string>;

export interface OfferOptions {
  id: string;
  offer_id: string;
  slug: string;
  position: number;
  price_usd: string | null;
  floor_price_usd: string | null;
  bid_increment: string | null;
  minimum_purchase_usd: string | null;
  total_token_supply: string | null;
  sale_agreement_url: string | null;
  accreditation_days: number;
}

export interface Requirements {
  id: string;
  option_id: string;
  key: string;
  type:
    | 'identity_verification'
    | 'kyc_approved'
    | 'accreditation'
    | 'external_wallet'
    | 'whitelisted_wallet'
    | 'document'
    | 'jurisdiction'
    | 'acknowledgement';
  details: ColumnType<Record<string, unknown> | null, string | null, string | null>;
  position: number;
}

export interface AcknowledgementRow {
  id: string;
  user_id: string;
  partner_id: string;
  client_id: string;
  offer_id: string;
  document: string;
  name: string;
  url: string;
  version: string;
  sha256: string;
  request_id: string | null;
  /** Null once the user is erased. */
  network: string | null;
  inserted_at: string;
}

export interface OfferPartners {
  offer_id: string;
  partner_id: string;
}

export interface OfferFundingAssets {
  offer_id: string;
  asset_id: string;
  position: number;
}

export interface OfferContracts {
  offer_id: string;
  chain: string;
  kind: 'fund' | 'swap';
  address: string;
  asset_address: string | null;
  allow_list: string | null;
  domain_name: string | null;
  vault: string | null;
  unreadable_code: Generated<'contract_not_found' | 'contract_reverted' | null>;
  unreadable_reason: Generated<string | null>;
  position: number;
}

export interface OfferFundingTokens {
  offer_id: string;
  chain: string;
  asset_id: string;
  address: string;
  decimals: number;
  position: number;
}
