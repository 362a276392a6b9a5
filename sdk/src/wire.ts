// Generated from openapi.json by `npm run generate`; do not edit.

export type Acknowledgement = {
  object: 'acknowledgement';
  id: string;
  offer_id: string;
  /** Identifies the document within the offer. All versions of the document share it. */
  document: string;
  name: string;
  url: string;
  /** The version of the document. When the version changes, every user must acknowledge the document again. */
  version: string;
  /** The SHA-256 of the file at `url`, in lower-case hexadecimal digits. The operator supplies it; the service does not fetch the file. */
  sha256: string;
  inserted_at: string;
};

export type AcknowledgementRequirement = {
  object: 'requirement';
  id: string;
  type: 'acknowledgement';
  details: {
    /** Identifies the document within the offer. All versions of the document share it. */
    document: string;
    name: string;
    /** Where the user reads the document: an https URL, or an http URL on localhost. */
    url: string;
    /** The version of the document. When the version changes, every user must acknowledge the document again. */
    version: string;
    /** The SHA-256 of the file at `url`, in lower-case hexadecimal digits. The operator supplies it; the service does not fetch the file. */
    sha256: string;
  };
};

export type Acknowledgements = {
  object: 'list';
  data: Array<Acknowledgement>;
  starting_after?: string | undefined;
  starting_before?: string | undefined;
};

/** The transaction to broadcast, or an empty object if none is needed. */
export type AllowWalletReply = AllowWalletTransaction | WalletAllowed;

export type AllowWalletTransaction = {
  object: 'allow_wallet_transaction';
  action: 'broadcast_transaction';
  /** The calldata. */
  data: string;
  /** The contract to call. */
  to: string;
};

export type Asset = {
  id: string;
  code: string;
  name: string;
  fractional_digits: number;
};

export type AuthorizationCodeGrant = {
  grant_type: 'authorization_code';
  code: string;
  /** The same as in the authorization request. */
  redirect_uri: string;
  code_verifier: string;
  /** Required unless sent as HTTP Basic. */
  client_id?: string | undefined;
  /** Required unless sent as HTTP Basic. */
  client_secret?: string | undefined;
};

export type Chain = 'ethereum_sepolia' | 'base_sepolia' | 'solana_devnet' | 'ethereum_mainnet' | 'base_mainnet' | 'solana_mainnet';

export type Check = {
  object: 'check';
  /** A requirement type, or the name of a general check. */
  code: 'identity_verification' | 'kyc_approved' | 'accreditation' | 'external_wallet' | 'whitelisted_wallet' | 'document' | 'jurisdiction' | 'acknowledgement' | 'account' | 'sanctions' | 'country_policy' | 'offer_window' | 'supply' | 'wallet_proof' | 'allow_list';
  requirement_id: string | null;
  status: 'passed' | 'waiting' | 'action_needed' | 'rejected';
  /** A message for the user. It never contains personal data or the reason for a restriction. */
  message: string;
  until: string | null;
  next: CheckNext | null;
};

/** The call that lets the user pass the check. For `acknowledgement`, first show the document at the `details.url` of the requirement. For `contact`, `method`, `path` and `body` are null. */
export type CheckNext = {
  type: 'identity' | 'document' | 'wallet_proof' | 'bind_wallet' | 'allow_wallet' | 'acknowledgement' | 'contact';
  method: string | null;
  path: string | null;
  body: Record<string, unknown> | null;
};

export type ClientCredentialsGrant = {
  grant_type: 'client_credentials';
  /** One or more of these scopes, separated by spaces: offers:read, requirements:read, participations:read, participations:write, wallets:read, wallets:write, identity:write, pii:read, documents:write, swaps:read, swaps:write, events:read, webhooks:write, openid, email, offline_access. */
  scope?: string | undefined;
  /** Required unless sent as HTTP Basic. */
  client_id?: string | undefined;
  /** Required unless sent as HTTP Basic. */
  client_secret?: string | undefined;
};

/** Metadata according to RFC 8414 and OpenID Connect Discovery. */
export type Discovery = {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  jwks_uri: string;
  scopes_supported: Array<string>;
};

export type DocumentRequirement = {
  object: 'requirement';
  id: string;
  type: 'document';
  details: {
    document_type: 'tax_certification';
  };
};

export type DocumentSubmission = {
  object: 'document_submission';
  form_type: 'w8_ben' | 'w8_ben_e';
  status: 'INITIALIZED' | 'SENT' | 'VIEWED' | 'EXPIRED' | 'DECLINED' | 'COMPLETED';
};

export type Eligibility = {
  object: 'eligibility';
  offer_id: string;
  /** Whether the user is eligible for at least one option. */
  eligible: boolean;
  options: Array<OptionEligibility>;
};

export type ErrorBody = {
  /** A human-readable message. */
  message: string;
  type: 'api_error';
  /** A machine-readable error code. `docs/errors.md` lists all codes. */
  code: string;
  /** A list of messages per field, or details specific to the code. */
  errors: Record<string, unknown>;
  /** The id of the failed request. Quote it when you contact support. */
  event_id: string;
};

export type Event = {
  object: 'event';
  id: string;
  /** For example, `participation.completed`. The type is `redacted` if the user has not allowed this app to read the event, or no longer allows it. */
  type: string;
  timestamp: string;
  /** The number of the event in the partner's log. The numbers have no gaps. */
  sequence: number;
  user_id: string | null;
  /** The id of the API request that caused the event. */
  request_id: string | null;
  /** Type, ids, status and amounts of the object that the event is about. */
  data: Record<string, unknown>;
  changes?: Record<string, unknown> | undefined;
  related?: {
    object: string;
    id: string;
    path: string;
  } | undefined;
};

export type Events = {
  object: 'list';
  data: Array<Event>;
  starting_after?: string | undefined;
  starting_before?: string | undefined;
};

export type EvmChain = 'ethereum_mainnet' | 'ethereum_sepolia' | 'base_mainnet' | 'base_sepolia';

export type ExternalWalletRequirement = {
  object: 'requirement';
  id: string;
  type: 'external_wallet';
  details: {
    protocol: 'ethereum' | 'solana';
  };
};

export type Health = {
  object: 'health';
  status: 'ok';
};

export type IdentityRequirement = {
  object: 'requirement';
  id: string;
  type: 'identity_verification' | 'kyc_approved' | 'accreditation';
  details: null;
};

export type Introspection = {
  active: boolean;
  client_id?: string | undefined;
  /** Unix time. */
  exp?: number | undefined;
  /** Unix time. */
  iat?: number | undefined;
  iss?: string | undefined;
  /** Space-separated. */
  scope?: string | undefined;
  /** User id. Absent for partner tokens. */
  sub?: string | undefined;
  /** The user's email address. Only with the scope `email`. */
  username?: string | undefined;
};

export type JurisdictionRequirement = {
  object: 'requirement';
  id: string;
  type: 'jurisdiction';
  details: {
    /** `allow`: only the listed places pass. `reject`: all but the listed places pass. */
    filter_type: 'allow' | 'reject';
    filters: Array<{
      /** ISO 3166-1 alpha-2 code in upper case. */
      country_iso_2: string;
      /** ISO 3166-2 codes without the country prefix (`NY`), or region names. Default: the whole country. */
      regions?: Array<string> | undefined;
    }>;
  };
};

export type KeySet = {
  keys: Array<Record<string, unknown>>;
};

export type KycLevel = 'Sorting_KYC_Level' | 'BasicKYCLevel' | 'AccreditationIndividual_FullVerification';

export type KycToken = {
  object: 'kyc_token';
  /** Short-lived access token for the identity provider's web SDK. */
  token: string;
};

/** The document that the user has read. Use the values from the requirement's `details`. */
export type NewAcknowledgement = {
  /** Identifies the document within the offer. All versions of the document share it. */
  document: string;
  /** The version of the document. When the version changes, every user must acknowledge the document again. */
  version: string;
  /** The SHA-256 of the file at `url`, in lower-case hexadecimal digits. The operator supplies it; the service does not fetch the file. */
  sha256: string;
};

/** The form values. They are forwarded unchanged and never stored. Fields: City, Country, Country Of Citizenship, DOB, Date, Foreign Tax Number, Full Name, Permanent Address, Signature. */
export type NewDocumentSubmission = Record<string, string>;

export type NewKycToken = {
  level_name?: KycLevel | undefined;
  /** Resets the applicant, so that an approved level can be repeated. Use the value of `kyc_reset` from the requirement status. Do not set it when you only renew a token during the flow. */
  reset?: boolean | undefined;
};

export type NewWebhookEndpoint = {
  /** An `https` URL with a public address. The address is checked again each time an event is sent. */
  url: string;
  /** Event types: exact names, groups such as `participation.*`, `redacted` for events that you may not read, or `*` for all. */
  types: Array<string>;
  description?: string | null | undefined;
};

export type OAuthErrorBody = {
  /** The OAuth 2.0 error code. */
  error: string;
  /** A message for developers. */
  error_description?: string | undefined;
  /** A human-readable message. */
  message: string;
  type: 'api_error';
  /** A machine-readable error code. `docs/errors.md` lists all codes. */
  code: string;
  /** A list of messages per field, or details specific to the code. */
  errors: Record<string, unknown>;
  /** The id of the failed request. Quote it when you contact support. */
  event_id: string;
};

export type Offer = {
  object: 'offer';
  id: string;
  slug: string;
  tagline: string | null;
  starts_at: string | null;
  ends_at: string | null;
  logo_url: string;
  banner_url: string | null;
  options: Array<OfferOption>;
  summary?: OfferCard | undefined;
} & ({ type: 'platform::token_sale' } | { type: 'fund::swap' } | { type: 'tokenized::swap' });

/** Only with `include=summary`. */
export type OfferCard = {
  name: string;
  asset: Asset;
  chains: Array<Chain>;
  state: 'upcoming' | 'open' | 'ended';
  price_usd: string | null;
  raised_usd: string | null;
  target_usd: string | null;
  fee_bps: number | null;
};

export type OfferContract = {
  chain: Chain;
  kind: 'fund' | 'swap';
  address: string;
  asset_address: string | null;
  allow_list_address: string | null;
  funding_tokens: Array<{
    asset_id: string;
    address: string;
    decimals: number;
  }>;
};

export type OfferDetails = {
  object: 'offer_details';
  id: string;
  slug: string;
  tagline: string | null;
  starts_at: string | null;
  ends_at: string | null;
  logo_url: string;
  banner_url: string | null;
  options: Array<OfferOption>;
  summary?: OfferCard | undefined;
  name: string;
  about: string | null;
  category: string | null;
  asset: Asset;
  funding_assets: Array<Asset>;
  terms: Array<{
    key: string;
    value: string;
  }>;
  links: Array<{
    label: string;
    url: string;
  }>;
  faqs: Array<{
    question: string;
    answer: string;
  }>;
  milestones: Array<{
    name: string;
    schedule: string;
    status: 'completed' | 'active' | 'upcoming';
  }>;
  contracts: Array<OfferContract>;
} & ({ type: 'platform::token_sale' } | { type: 'fund::swap' } | { type: 'tokenized::swap' });

export type OfferOption = {
  id: string;
  slug: string;
  price_usd: string | null;
  floor_price_usd: string | null;
  bid_increment: string | null;
  minimum_purchase_usd: string | null;
  total_token_supply: string | null;
  sale_agreement_url: string | null;
};

export type OfferRequirements = {
  object: 'offer_requirements';
  offer_id: string;
  /** Keyed by the id of the offer option. */
  options: Record<string, RequirementList>;
};

export type Offers = {
  object: 'list';
  data: Array<Offer>;
  starting_after?: string | undefined;
  starting_before?: string | undefined;
};

export type OptionAddress = {
  object: 'option_address';
  id: string;
  address: string;
  offer_option_id: string;
  protocol: 'ethereum' | 'solana';
  created_at: string;
};

export type OptionAddresses = {
  object: 'list';
  data: Array<OptionAddress>;
  starting_after?: string | undefined;
  starting_before?: string | undefined;
};

export type OptionEligibility = {
  object: 'option_eligibility';
  offer_option_id: string;
  /** Whether every check has passed. */
  eligible: boolean;
  checks: Array<Check>;
};

export type Participation = {
  object: 'participation';
  id: string;
  offer_id: string;
  offer_option_id: string;
  /** `prepared`: the approval is not mined or confirmed yet. `pending`: the approval is valid and the commit is about to be sent. `submitted`: the transaction that commits the amount is in progress. `completed`: the commit is confirmed. `failed`: nothing was committed. `remit_submitted`, `remitted`, `remit_failed`: a refund is in progress, paid, or failed. */
  status: 'prepared' | 'pending' | 'submitted' | 'completed' | 'failed' | 'remit_submitted' | 'remitted' | 'remit_failed';
  amount: string;
  /** The amount as a decimal number. */
  amount_string: string;
  asset: Asset;
  chain: Chain;
  wallet_address: string | null;
  inserted_at: string;
  updated_at: string;
  transactions?: ParticipationTransactions | undefined;
  user?: ParticipationUser | undefined;
};

/** Only with `include=transactions`. */
export type ParticipationTransactions = {
  approval_hash: string;
  commit_hash: string | null;
  remit_hash: string | null;
  explorer_urls: {
    approval: string;
    commit: string | null;
    remit: string | null;
  };
};

/** Only with `include=user` and a partner token. `email` is null unless the user granted the scope `email`. */
export type ParticipationUser = {
  id: string;
  email: string | null;
};

export type Participations = {
  object: 'list';
  data: Array<Participation>;
  starting_after?: string | undefined;
  starting_before?: string | undefined;
};

export type Readiness = {
  object: 'readiness';
  /** `degraded` if the node is ready, but one of its dependencies is unavailable. */
  status: 'ok' | 'degraded';
  parts: Record<string, 'ok' | 'unavailable'>;
};

export type RefreshTokenGrant = {
  grant_type: 'refresh_token';
  refresh_token: string;
  /** One or more of these scopes, separated by spaces: offers:read, requirements:read, participations:read, participations:write, wallets:read, wallets:write, identity:write, pii:read, documents:write, swaps:read, swaps:write, events:read, webhooks:write, openid, email, offline_access. */
  scope?: string | undefined;
  /** Required unless sent as HTTP Basic. */
  client_id?: string | undefined;
  /** Required unless sent as HTTP Basic. */
  client_secret?: string | undefined;
};

export type Requirement = IdentityRequirement | ExternalWalletRequirement | WhitelistedWalletRequirement | DocumentRequirement | JurisdictionRequirement | AcknowledgementRequirement;

export type RequirementList = {
  object: 'list';
  data: Array<Requirement>;
};

/** A plain string, or an object if there are further details. */
export type RequirementStatus = RequirementStatusValue | RequirementStatusObject;

export type RequirementStatusObject = {
  status: RequirementStatusValue;
  /** Why the user must act. */
  action?: 'kyc_not_verified' | 'update_pii_data' | undefined;
  kyc_level?: KycLevel | undefined;
  /** The value to send to `POST /v1/kyc-token` as `reset`. */
  kyc_reset?: boolean | undefined;
};

export type RequirementStatusValue = 'not_started' | 'in_progress' | 'action_needed' | 'completed' | 'rejected';

export type RequirementStatuses = {
  object: 'requirement_statuses';
  offer_id: string;
  /** Keyed by the id of the requirement. */
  statuses: Record<string, RequirementStatus>;
};

export type Revoked = Record<string, never>;

export type SwapOutputToken = {
  object: 'swap_output_token';
  name: string;
  symbol: string;
  decimals: number;
};

/** The result of a swap at the latest block. The market takes `pay_input_amount`, which is less than the requested amount if supply is short. The wallet pays `pay_input_amount` plus `fee`, which together never exceed the requested amount. */
export type SwapPreview = {
  object: 'swap_preview';
  fee: string;
  pay_input_amount: string;
  receive_output_amount: string;
};

/** Swaps are stopped if the bit mask `stopped` contains the bit of `swap_level`. If `stopped` is zero, nothing is stopped. */
export type SwapStatus = {
  object: 'swap_status';
  stopped: string;
  swap_level: string;
};

export type Token = {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  /** Only for the authorization code and refresh token grants. */
  refresh_token?: string | undefined;
  /** With the scope `openid`. */
  id_token?: string | undefined;
  scope: string;
};

export type TokenAllowance = {
  object: 'token_allowance';
  allowance: string;
};

export type TokenBalance = {
  object: 'token_balance';
  balance: string;
};

export type TokenRequest = AuthorizationCodeGrant | RefreshTokenGrant | ClientCredentialsGrant;

export type TokenizedSwapMarket = {
  object: 'tokenized_swap_market';
  symbol: string;
  is_open: boolean | null;
  session: 'premarket' | 'regular' | 'postmarket' | 'overnight' | 'offhours' | 'paused' | 'closed' | null;
  opens_at: string | null;
  closes_at: string | null;
  previous_close: string | null;
  prices: {
    object: 'list';
    data: Array<TokenizedSwapPrice>;
  };
};

export type TokenizedSwapOrder = {
  object: 'tokenized_swap_order';
  id: string;
  symbol: string;
  side: 'buy' | 'sell';
  chain: EvmChain;
  wallet_address: string;
  amount: string;
  fee: string;
  notional_value: string;
  receive_output_amount: string;
  status: 'issued' | 'executed' | 'expired';
  transaction_hash: string | null;
  expires_at: string;
  inserted_at: string;
};

export type TokenizedSwapOrders = {
  object: 'list';
  data: Array<TokenizedSwapOrder>;
  starting_after?: string | undefined;
  starting_before?: string | undefined;
};

export type TokenizedSwapPrice = {
  object: 'tokenized_swap_price';
  price: string;
  recorded_at: string;
};

export type TokenizedSwapQuote = {
  object: 'tokenized_swap_quote';
  chain_id: string;
  symbol: string;
  ticker: string;
  asset_address: string;
  asset_decimals: number;
  side: 'buy' | 'sell';
  token_base_units: string;
  price: string;
};

export type TokenizedSwapTradingStatus = {
  object: 'tokenized_swap_trading_status';
  side: 'buy' | 'sell';
  tradable: boolean;
  gross_max_notional_value: string | null;
  gross_max_tokens: string | null;
  gross_max_active_notional_value: string | null;
};

export type TokenizedSwapTransaction = {
  object: 'tokenized_swap_transaction';
  action: 'broadcast_transaction';
  data: string;
  to: string;
  expires_at: string;
  pay_input_amount: string;
  fee: string;
  notional_value: string;
  pay_input_decimals: number;
  receive_output_amount: string;
  receive_output_decimals: number;
};

export type UserInfo = {
  sub: string;
  /** With the scope `email`. */
  email?: string | undefined;
  email_verified?: boolean | undefined;
};

export type UserPii = {
  object: 'user_pii';
  kind: 'person' | 'company';
  full_legal_name: string | null;
  /** `YYYY-MM-DD`. Null for companies. */
  date_of_birth: string | null;
  jurisdiction: {
    iso_2: string;
    name: string;
  } | null;
  permanent_address: {
    street: string | null;
    city: string | null;
    state: string | null;
    postal_code: string | null;
    /** ISO 3166-1 alpha-2 code. `jurisdiction` contains the country's name. */
    country: string | null;
  };
  tax_id: string | null;
};

export type WalletAllowed = Record<string, never>;

export type WalletAuthorization = {
  object: 'wallet_authorization';
  authorized: boolean;
};

export type WalletOwnershipChallenge = {
  object: 'wallet_ownership_challenge';
  /** The exact message that the wallet must sign. */
  message: string;
  expires_at: string;
};

export type WebhookAttempt = {
  object: 'webhook_attempt';
  id: string;
  kind: 'scheduled' | 'resend';
  at: string;
  duration_ms: number;
  /** The HTTP status. Only 2xx is a success. */
  status: number | null;
  /** `timeout`, `connection_refused`, `connection_failed`, `dns_error`, `tls_error` or `address_refused`. */
  error: string | null;
  /** The IP address that the attempt connected to. */
  address: string | null;
  /** The first KiB of the response, as text. */
  response: string | null;
};

export type WebhookAttempts = {
  object: 'list';
  data: Array<WebhookAttempt>;
  starting_after?: string | undefined;
  starting_before?: string | undefined;
};

export type WebhookDeliveries = {
  object: 'list';
  data: Array<WebhookDelivery>;
  starting_after?: string | undefined;
  starting_before?: string | undefined;
};

export type WebhookDelivery = {
  object: 'webhook_delivery';
  id: string;
  endpoint_id: string;
  event_id: string;
  /** The event type; `redacted` if the partner may not read it. */
  type: string;
  /** `skipped`: not delivered, because the endpoint was enabled again with `from` set to `now`. */
  state: 'pending' | 'delivered' | 'failed' | 'skipped';
  attempts: number;
  next_attempt_at: string | null;
  last_attempt: WebhookAttempt | null;
  inserted_at: string;
};

export type WebhookEndpoint = {
  object: 'webhook_endpoint';
  id: string;
  url: string;
  types: Array<string>;
  description: string | null;
  /** `failing`: an event exhausted its retries, and no attempt has succeeded since. */
  state: 'enabled' | 'failing' | 'disabled';
  disabled_reason: 'requested' | 'gone' | 'failing' | null;
  /** Present only in replies that create or rotate the secret. */
  secret?: string | undefined;
  previous_secret_until: string | null;
  /** The number of events waiting for delivery. */
  behind: number;
  last_delivered_at: string | null;
  inserted_at: string;
};

export type WebhookEndpointChange = {
  /** An `https` URL with a public address. The address is checked again each time an event is sent. */
  url?: string | undefined;
  /** Event types: exact names, groups such as `participation.*`, `redacted` for events that you may not read, or `*` for all. */
  types?: Array<string> | undefined;
  description?: string | null | undefined;
};

export type WebhookEndpointEnabling = {
  /** `stopped` delivers all events since the endpoint was disabled. `now` delivers only new events. */
  from?: 'stopped' | 'now' | undefined;
};

export type WebhookEndpoints = {
  object: 'list';
  data: Array<WebhookEndpoint>;
  starting_after?: string | undefined;
  starting_before?: string | undefined;
};

export type WebhookReceipt = {
  object: 'webhook_receipt';
};

export type WebhookRecovery = {
  object: 'webhook_recovery';
  endpoint_id: string;
  /** The number of events that will be resent. */
  deliveries: number;
};

export type WebhookRecoveryRange = {
  since: string;
  /** Default: now. */
  until?: string | undefined;
};

export type WebhookSecretRotation = {
  /** How long deliveries also carry a signature with the previous secret. */
  grace_hours?: number | undefined;
};

export type WebhookTest = {
  object: 'webhook_test';
  endpoint_id: string;
  event_id: string;
};

export type WhitelistedWalletRequirement = {
  object: 'requirement';
  id: string;
  type: 'whitelisted_wallet';
  details: {
    /** Maximum number of wallets that a user can bind to the option. */
    max_wallets: number;
  };
};

/** The error codes known to this version. A newer service may send others. */
export type ErrorCode =
  | 'malformed_request'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'user_token_required'
  | 'requirements_not_met'
  | 'wallet_not_proven'
  | 'wallet_restricted'
  | 'account_restricted'
  | 'wallet_sanctioned'
  | 'forged_form'
  | 'recent_sign_in_required'
  | 'local_only'
  | 'not_found'
  | 'method_not_allowed'
  | 'max_wallets_reached'
  | 'offer_ended'
  | 'offer_not_started'
  | 'wallet_already_bound'
  | 'sold_out'
  | 'too_many_prepared'
  | 'approval_already_used'
  | 'document_completed'
  | 'acknowledgement_outdated'
  | 'kyc_in_review'
  | 'kyc_final_rejection'
  | 'order_outstanding'
  | 'fee_changed'
  | 'market_closed'
  | 'market_paused'
  | 'asset_paused'
  | 'side_not_allowed'
  | 'limit_reached'
  | 'webhook_endpoint_limit_reached'
  | 'secret_rotation_in_progress'
  | 'endpoint_disabled'
  | 'idempotency_in_progress'
  | 'events_expired'
  | 'payload_too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'idempotency_key_reused'
  | 'webhook_url_refused'
  | 'passkey_refused'
  | 'challenge_invalid'
  | 'chain_not_supported'
  | 'allow_list_external'
  | 'offer_type_mismatch'
  | 'approval_invalid'
  | 'insufficient_allowance'
  | 'insufficient_balance'
  | 'contract_not_found'
  | 'contract_reverted'
  | 'tax_form_not_applicable'
  | 'symbol_not_found'
  | 'rate_limited'
  | 'internal_error'
  | 'upstream_error'
  | 'upstream_unavailable'
  | 'unavailable';

/** The query, body and reply of each API operation. */
export type Operations = {
  /** List offers. */
  listOffers: {
    query: {
      /** Cursor of the next page, from a previous reply. */
      starting_after?: string | undefined;
      /** Cursor of the previous page, from a previous reply. */
      starting_before?: string | undefined;
      limit?: number | undefined;
      include?: Array<string> | undefined;
    };
    reply: Offers;
  };
  /** Get an offer. */
  getOffer: {
    query: {
      include?: Array<string> | undefined;
    };
    reply: OfferDetails;
  };
  /** Get the requirements of an offer. */
  getRequirements: {
    reply: OfferRequirements;
  };
  /** Get the user's requirement statuses. */
  getRequirementStatuses: {
    reply: RequirementStatuses;
  };
  /** Explain whether the user can invest in an offer. */
  getEligibility: {
    query: {
      chain?: Chain | undefined;
      /** The wallet to check. Default: any proven wallet. */
      wallet_address?: string | undefined;
    };
    reply: Eligibility;
  };
  /** Record that the user has read a document. */
  createAcknowledgement: {
    body: NewAcknowledgement;
    reply: Acknowledgement;
  };
  /** List the user's acknowledgements. */
  listAcknowledgements: {
    query: {
      /** Cursor of the next page, from a previous reply. */
      starting_after?: string | undefined;
      /** Cursor of the previous page, from a previous reply. */
      starting_before?: string | undefined;
      limit?: number | undefined;
    };
    reply: Acknowledgements;
  };
  /** Start or continue identity verification. */
  createKycToken: {
    body: NewKycToken;
    reply: KycToken;
  };
  /** Get the user's personal data. */
  getPii: {
    reply: UserPii;
  };
  /** Send the user a form to sign. */
  submitDocument: {
    body: NewDocumentSubmission;
    reply: DocumentSubmission;
  };
  /** Create a wallet ownership challenge. */
  createWalletOwnershipChallenge: {
    body: {
      /** EVM: hexadecimal, upper or lower case. Solana: base58. */
      wallet_address: string;
      chain: Chain;
      /** `siwe` (ERC-4361) is only supported on EVM chains. On Solana, every challenge is a sign-in message for the page that sends the request, or for the first registered origin. */
      challenge_type?: 'plain' | 'siwe' | undefined;
      /** For `siwe`: the host of the requesting page, with its port if any. The partner must have registered an origin or https redirect URI with this host. */
      domain?: string | undefined;
      /** For `siwe`: the URI of the requesting page. It must be under a registered origin or https redirect URI, or be a registered custom-scheme redirect URI. */
      uri?: string | undefined;
      /** For `siwe`, optional: a statement that is added after our own sentence, which contains the name of the partner and the account code. */
      statement?: string | undefined;
    };
    reply: WalletOwnershipChallenge;
  };
  /** Connect a wallet to an offer option. */
  connectWallet: {
    body: {
      chain: Chain;
      offer_option_id: string;
      /** The signature of the challenge message. EVM: hexadecimal. Solana: base58, base64 or hexadecimal. */
      signature: string;
      /** EVM: hexadecimal, upper or lower case. Solana: base58. */
      wallet_address: string;
    };
    reply: OptionAddress;
  };
  /** List the user's connected wallets. */
  listConnectedWallets: {
    query: {
      /** Cursor of the next page, from a previous reply. */
      starting_after?: string | undefined;
      /** Cursor of the previous page, from a previous reply. */
      starting_before?: string | undefined;
      limit?: number | undefined;
      /** Default: all options of the offer. */
      offer_option_id?: string | undefined;
    };
    reply: OptionAddresses;
  };
  /** Disconnect a wallet. */
  removeConnectedWallet: {
    reply: OptionAddress;
  };
  /** Add a wallet to the allow-list of a swap offer. */
  allowWallet: {
    body: {
      chain: Chain;
      /** The signature of the challenge message. EVM: hexadecimal. Solana: base58, base64 or hexadecimal. */
      signature: string;
      /** EVM: hexadecimal, upper or lower case. Solana: base58. */
      wallet_address: string;
    };
    reply: AllowWalletReply;
  };
  /** Participate in a token sale. */
  createParticipation: {
    body: {
      /** The id or slug of the offer. */
      offer_id: string;
      offer_option_id: string;
      chain: Chain;
      /** The wallet that approved the fund as spender. */
      wallet_address: string;
      amount: string;
      /** One of the offer's `funding_assets`. */
      asset_id: string;
      /** The transaction that approved the fund as spender on this chain. Each participation needs a new approval. */
      approval_transaction_hash: string;
    };
    reply: Participation;
  };
  /** List participations. */
  listParticipations: {
    query: {
      /** Cursor of the next page, from a previous reply. */
      starting_after?: string | undefined;
      /** Cursor of the previous page, from a previous reply. */
      starting_before?: string | undefined;
      limit?: number | undefined;
      include?: Array<string> | undefined;
    };
    reply: Participations;
  };
  /** Get a participation. */
  getParticipation: {
    query: {
      include?: Array<string> | undefined;
    };
    reply: Participation;
  };
  /** Preview a swap. */
  previewSwap: {
    query: {
      contract_address: string;
      chain: EvmChain;
      input_token: string;
      amount: string;
    };
    reply: SwapPreview;
  };
  /** Get the output token of a swap contract. */
  getSwapOutputToken: {
    query: {
      contract_address: string;
      chain: EvmChain;
    };
    reply: SwapOutputToken;
  };
  /** Get the status of a swap contract. */
  getSwapStatus: {
    query: {
      contract_address: string;
      chain: EvmChain;
    };
    reply: SwapStatus;
  };
  /** Check whether a wallet may swap. */
  getWalletAuthorization: {
    query: {
      contract_address: string;
      chain: EvmChain;
      wallet_address: string;
    };
    reply: WalletAuthorization;
  };
  /** Get a token allowance. */
  getTokenAllowance: {
    query: {
      token_address: string;
      owner: string;
      spender: string;
      chain: EvmChain;
    };
    reply: TokenAllowance;
  };
  /** Get a token balance. */
  getTokenBalance: {
    query: {
      token_address: string;
      owner: string;
      chain: EvmChain;
    };
    reply: TokenBalance;
  };
  /** Get an indicative price for a tokenized asset. */
  quoteTokenizedSwap: {
    query: {
      symbol: string;
      side: 'buy' | 'sell';
      token_amount?: string | undefined;
      notional_value?: string | undefined;
      duration?: 'short' | 'long' | undefined;
    };
    reply: TokenizedSwapQuote;
  };
  /** Get the trading status of a tokenized asset. */
  getTokenizedTradingStatus: {
    query: {
      symbol: string;
      side: 'buy' | 'sell';
    };
    reply: TokenizedSwapTradingStatus;
  };
  /** Get the trading hours and the price history of a tokenized asset. */
  getTokenizedMarket: {
    query: {
      symbol: string;
      range?: '1d' | '1w' | '1m' | '1y' | undefined;
    };
    reply: TokenizedSwapMarket;
  };
  /** List orders for tokenized assets. */
  listTokenizedSwapOrders: {
    query: {
      /** Cursor of the next page, from a previous reply. */
      starting_after?: string | undefined;
      /** Cursor of the previous page, from a previous reply. */
      starting_before?: string | undefined;
      limit?: number | undefined;
    };
    reply: TokenizedSwapOrders;
  };
  /** Create a purchase transaction for the wallet to sign and send. */
  encodeTokenizedSwap: {
    body: {
      amount: string;
      chain: EvmChain;
      symbol: string;
      wallet_address: string;
    };
    reply: TokenizedSwapTransaction;
  };
  /** List events. */
  listEvents: {
    query: {
      /** Cursor of the next page, from a previous reply. */
      starting_after?: string | undefined;
      /** Cursor of the previous page, from a previous reply. */
      starting_before?: string | undefined;
      limit?: number | undefined;
      /** An event id. Returns the events after it, oldest first. */
      after?: string | undefined;
    };
    reply: Events;
  };
  /** Stream events. */
  streamEvents: {
    query: {
      /** An event id. Returns the events after it, oldest first. */
      after?: string | undefined;
    };
    reply: Event;
  };
  /** Get an event. */
  getEvent: {
    reply: Event;
  };
  /** Create a webhook endpoint. */
  createWebhookEndpoint: {
    body: NewWebhookEndpoint;
    reply: WebhookEndpoint;
  };
  /** List webhook endpoints. */
  listWebhookEndpoints: {
    query: {
      /** Cursor of the next page, from a previous reply. */
      starting_after?: string | undefined;
      /** Cursor of the previous page, from a previous reply. */
      starting_before?: string | undefined;
      limit?: number | undefined;
    };
    reply: WebhookEndpoints;
  };
  /** Get a webhook endpoint. */
  getWebhookEndpoint: {
    reply: WebhookEndpoint;
  };
  /** Update a webhook endpoint. */
  changeWebhookEndpoint: {
    body: WebhookEndpointChange;
    reply: WebhookEndpoint;
  };
  /** Delete a webhook endpoint and its deliveries. */
  deleteWebhookEndpoint: {
    reply: WebhookEndpoint;
  };
  /** Replace the signing secret. */
  rotateWebhookSecret: {
    body: WebhookSecretRotation;
    reply: WebhookEndpoint;
  };
  /** Enable a disabled webhook endpoint. */
  enableWebhookEndpoint: {
    body: WebhookEndpointEnabling;
    reply: WebhookEndpoint;
  };
  /** Disable a webhook endpoint. */
  disableWebhookEndpoint: {
    body: Record<string, never>;
    reply: WebhookEndpoint;
  };
  /** Send a test event to a webhook endpoint. */
  testWebhookEndpoint: {
    body: Record<string, never>;
    reply: WebhookTest;
  };
  /** Resend missed events. */
  recoverWebhookEndpoint: {
    body: WebhookRecoveryRange;
    reply: WebhookRecovery;
  };
  /** List the deliveries of a webhook endpoint. */
  listWebhookDeliveries: {
    query: {
      /** Cursor of the next page, from a previous reply. */
      starting_after?: string | undefined;
      /** Cursor of the previous page, from a previous reply. */
      starting_before?: string | undefined;
      limit?: number | undefined;
    };
    reply: WebhookDeliveries;
  };
  /** Get a webhook delivery. */
  getWebhookDelivery: {
    reply: WebhookDelivery;
  };
  /** List the attempts of a webhook delivery. */
  listWebhookAttempts: {
    query: {
      /** Cursor of the next page, from a previous reply. */
      starting_after?: string | undefined;
      /** Cursor of the previous page, from a previous reply. */
      starting_before?: string | undefined;
      limit?: number | undefined;
    };
    reply: WebhookAttempts;
  };
  /** Resend an event. */
  resendWebhookDelivery: {
    body: Record<string, never>;
    reply: WebhookDelivery;
  };
};
