import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

/**
 * The tables as queries see them, one interface each, named as in the migrations. Column types as `column-types.ts`
 * reads them: timestamptz `string`, int8 `bigint`, numeric `string`.
 */
export interface Database {
  schema_migrations: SchemaMigrations;
  idempotency_keys: IdempotencyKeys;
  rate_limits: RateLimits;
  partners: Partners;
  oauth_clients: OauthClients;
  oauth_grants: OauthGrants;
  oauth_tokens: OauthTokens;
  oauth_artifacts: OauthArtifacts;
  oauth_signing_keys: OauthSigningKeys;
  users: Users;
  passkeys: Passkeys;
  passkey_challenges: PasskeyChallenges;
  mail_links: MailLinks;
  browser_sessions: BrowserSessions;
  mail_outbox: MailOutbox;
  sign_in_failures: SignInFailures;
  assets: Assets;
  offers: Offers;
  offer_options: OfferOptions;
  requirements: Requirements;
  offer_partners: OfferPartners;
  offer_funding_assets: OfferFundingAssets;
  offer_contracts: OfferContracts;
  offer_funding_tokens: OfferFundingTokens;
  wallet_challenges: WalletChallenges;
  option_addresses: OptionAddresses;
  allow_verifications: AllowVerifications;
  events: Events;
  operator_keys: OperatorKeys;
  operator_transactions: OperatorTransactions;
  operator_attempts: OperatorAttempts;
  participations: Participations;
  tokenized_orders: TokenizedOrders;
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
  disabled_at: string | null;
  inserted_at: Generated<string>;
}

export interface OauthClients {
  client_id: string;
  partner_id: string;
  redirect_uris: string[];
  scopes: string[];
  secret_hash: Buffer;
  previous_secret_hash: Buffer | null;
  previous_secret_until: string | null;
  inserted_at: Generated<string>;
}

export interface OauthGrants {
  id: string;
  client_id: string;
  user_id: string;
  payload: JsonObject;
  expires_at: string;
  revoked_at: string | null;
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
}

export interface OauthArtifacts {
  kind: string;
  hash: Buffer;
  grant_id: string | null;
  uid: string | null;
  payload: JsonObject;
  expires_at: string;
  consumed_at: string | null;
}

export interface OauthSigningKeys {
  kid: string;
  sealed: Buffer;
  inserted_at: Generated<string>;
  retired_at: string | null;
}

/** Read as an object, written as text. */
type JsonObject = ColumnType<Record<string, unknown>, string, string>;

export interface Users {
  id: string;
  email: string;
  kind: 'person' | 'company';
  password_hash: string | null;
  email_confirmed_at: Generated<string>;
  inserted_at: Generated<string>;
}

export interface Passkeys {
  id: string;
  user_id: string;
  credential_id: Buffer;
  public_key: Buffer;
  sign_count: bigint;
  transports: string[];
  name: string;
  last_used_at: string | null;
  inserted_at: Generated<string>;
}

export interface PasskeyChallenges {
  hash: Buffer;
  purpose: 'add' | 'sign_in';
  browser: Buffer;
  expires_at: string;
}

export interface MailLinks {
  hash: Buffer;
  purpose: 'confirm' | 'reset';
  user_id: string | null;
  registration: Buffer | null;
  browser: Buffer | null;
  continue_to: string | null;
  expires_at: string;
}

export interface BrowserSessions {
  hash: Buffer;
  user_id: string;
  method: 'password' | 'passkey';
  signed_in_at: Generated<string>;
  expires_at: string;
}

export interface MailOutbox {
  id: string;
  mail: Buffer;
  attempts: Generated<number>;
  next_attempt_at: Generated<string>;
  inserted_at: Generated<string>;
}

export interface SignInFailures {
  account: Buffer;
  count: number;
  window_end: string;
}

export interface Events {
  id: string;
  written: GeneratedAlways<bigint>;
  /** Null until `placeEvents` has seen it committed. */
  position: Generated<bigint | null>;
  partner_id: string;
  user_id: string | null;
  type: string;
  data: JsonObject;
  inserted_at: string;
}

export interface Assets {
  id: string;
  code: string;
  name: string;
  fractional_digits: number;
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
  terms: JsonList;
  links: JsonList;
  faqs: JsonList;
  milestones: JsonList;
  published_at: Generated<string | null>;
  closed_at: Generated<string | null>;
  inserted_at: string;
  updated_at: string;
}

/** Read as a list, written as text. */
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
    | 'jurisdiction';
  details: ColumnType<Record<string, unknown> | null, string | null, string | null>;
  position: number;
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

export interface WalletChallenges {
  client_id: string;
  user_id: string;
  chain: string;
  address: string;
  id: string;
  text: string;
  expires_at: string;
  consumed_at: string | null;
}

export interface OptionAddresses {
  id: string;
  option_id: string;
  user_id: string;
  protocol: 'ethereum' | 'solana';
  address: string;
  partner_id: string;
  proved_chain: string;
  proved_at: string;
  created_at: string;
}

export interface AllowVerifications {
  id: string;
  offer_id: string;
  user_id: string;
  partner_id: string;
  chain: string;
  contract: string;
  wallet: string;
  state: 'permitted' | 'allowed' | 'expired';
  deadline: string;
  inserted_at: string;
  updated_at: string;
}

export interface OperatorKeys {
  chain: string;
  address: string;
  next_nonce: bigint | null;
  epoch: bigint;
  node: number;
  lease_until: string;
}

export interface OperatorTransactions {
  id: string;
  chain: string;
  signer: string;
  nonce: bigint;
  kind: 'commit' | 'remit' | 'fill';
  target: string;
  data: Buffer;
  gas: bigint;
  state: Generated<'open' | 'settled' | 'final' | 'displaced'>;
  mined_hash: Generated<Buffer | null>;
  block_number: Generated<bigint | null>;
  block_hash: Generated<Buffer | null>;
  succeeded: Generated<boolean | null>;
  inserted_at: Generated<string>;
}

export interface OperatorAttempts {
  hash: Buffer;
  transaction_id: string;
  raw: Buffer;
  max_fee: string;
  priority_fee: string;
  inserted_at: Generated<string>;
  sent_at: Generated<string | null>;
}

export type ParticipationStatus =
  | 'prepared'
  | 'pending'
  | 'submitted'
  | 'completed'
  | 'failed'
  | 'remit_submitted'
  | 'remitted'
  | 'remit_failed';

export interface Participations {
  id: string;
  partner_id: string;
  user_id: string;
  offer_id: string;
  offer_option_id: string;
  status: ParticipationStatus;
  reason: string | null;
  amount: string;
  asset_id: string;
  asset_code: string;
  asset_name: string;
  asset_digits: number;
  chain: string;
  wallet_address: string;
  fund_address: string;
  token_address: string;
  approval_hash: Buffer;
  holds_approval: Generated<boolean>;
  prepared_at: string;
  check_at: Generated<string>;
  commit_id: Generated<string | null>;
  commit_row: Generated<number | null>;
  committed: Generated<boolean | null>;
  remit_id: Generated<string | null>;
  remit_row: Generated<number | null>;
  inserted_at: string;
  updated_at: string;
}

export type TokenizedOrderState =
  | 'asking'
  | 'unknown'
  | 'attested'
  | 'live'
  | 'executed'
  | 'expired'
  | 'refused'
  | 'failed'
  | 'abandoned';

export interface TokenizedOrders {
  id: string;
  partner_id: string;
  user_id: string;
  offer_id: string;
  symbol: string;
  chain: string;
  wallet: string;
  swap: string;
  asset: string;
  token: string;
  amount: string;
  claim: Buffer | null;
  state: TokenizedOrderState;
  holding: boolean;
  expires_at: string;
  attestation: Generated<string | null>;
  attestation_id: Generated<string | null>;
  from_block: Generated<bigint | null>;
  transaction_hash: Generated<Buffer | null>;
  inserted_at: string;
  updated_at: string;
}
