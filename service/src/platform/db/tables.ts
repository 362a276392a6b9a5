// Generated from the migrations by `npm run generate`; do not edit.
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

/** Read as a value, written as JSON text. */
type Json<T> = ColumnType<T, string, string>;

export interface Database {
  acknowledgements: {
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
    network: string | null;
    inserted_at: string;
  };
  allow_revocations: {
    id: string;
    chain: string;
    contract: string;
    wallet: string;
    state: Generated<'waiting' | 'sent' | 'done'>;
    transaction_id: string | null;
    send_at: Generated<string>;
    inserted_at: string;
  };
  allow_verifications: {
    id: string;
    offer_id: string;
    user_id: string;
    partner_id: string;
    chain: string;
    contract: string;
    wallet: string;
    state: 'permitted' | 'allowed' | 'expired' | 'revoking' | 'revoked';
    deadline: string;
    check_at: Generated<string>;
    inserted_at: string;
    updated_at: string;
  };
  assets: {
    id: string;
    code: string;
    name: string;
    fractional_digits: number;
    transfers: Generated<'exact' | 'fee_on_transfer' | 'rebasing'>;
    inserted_at: Generated<string>;
  };
  audit_blinding: {
    only_row: Generated<boolean>;
    key: Buffer;
  };
  audit_checkpoints: {
    size: bigint;
    note: string;
    at: Generated<string>;
  };
  audit_entries: {
    written: GeneratedAlways<bigint>;
    entry: string;
    position: bigint | null;
  };
  audit_former_keys: {
    public_key: Buffer;
    size: bigint;
    root_hash: Buffer;
    tag: Buffer;
  };
  audit_reasons: {
    written: bigint;
    salt: string;
    reason: string;
  };
  audit_start: {
    only_row: Generated<boolean>;
    size: bigint;
    root_hash: Buffer;
    tag: Buffer;
  };
  audit_tiles: {
    level: number;
    index: bigint;
    hashes: Buffer;
  };
  browser_sessions: {
    hash: Buffer;
    id: Generated<string>;
    user_id: string;
    method: 'password' | 'passkey';
    second_factor: 'totp' | 'recovery_code' | null;
    browser: string | null;
    network: string;
    signed_in_at: Generated<string>;
    used_at: Generated<string>;
    expires_at: string;
  };
  country_changes: {
    user_id: string;
    changed_at: string;
    is_flagged: boolean;
    approved_at: string | null;
  };
  document_submissions: {
    id: string;
    user_id: string;
    document_type: string;
    attempt: number;
    form_type: 'w8_ben' | 'w8_ben_e';
    status: 'INITIALIZED' | 'SENT' | 'VIEWED' | 'COMPLETED' | 'DECLINED' | 'EXPIRED';
    provider_submission_id: bigint | null;
    provider_submitter_id: bigint | null;
    pii_version: number;
    expires_at: string;
    completed_at: string | null;
    claimed_at: string;
    due_at: string;
    lease_until: string | null;
    inserted_at: string;
    updated_at: string;
  };
  erasures: {
    user_id: string;
    erased_at: string;
    kept: string[];
    keep_until: string | null;
  };
  events: {
    id: string;
    written: GeneratedAlways<bigint>;
    position: bigint | null;
    sequence: bigint | null;
    partner_id: string;
    user_id: string | null;
    type: string;
    data: Json<Record<string, unknown>>;
    changes: Json<Record<string, unknown>> | null;
    related: Json<{ object: string; id: string; path: string }> | null;
    request_id: string | null;
    inserted_at: string;
  };
  expired_events: {
    id: string;
    partner_id: string;
    user_id: string | null;
    expired_at: Generated<string>;
  };
  foreign_transactions: {
    chain: string;
    signature: Buffer;
    address: string;
    participation_id: string | null;
    seen_at: Generated<string>;
    adopted_at: string | null;
  };
  forms_to_archive: {
    submission_id: string;
    due_at: Generated<string>;
    lease_until: string | null;
    inserted_at: Generated<string>;
  };
  idempotency_keys: {
    id: Buffer;
    request_tag: Buffer;
    node: number;
    lease_until: string;
    outcome: Buffer | null;
    inserted_at: Generated<string>;
  };
  identity_applicants: {
    user_id: string;
    applicant_id: string | null;
    is_active: Generated<boolean>;
    active_as_of: Generated<string>;
    due_at: string;
    lease_until: string | null;
    attempts: Generated<number>;
    checked_at: string | null;
    inserted_at: Generated<string>;
  };
  identity_reviews: {
    user_id: string;
    level_name: 'Sorting_KYC_Level' | 'BasicKYCLevel' | 'AccreditationIndividual_FullVerification';
    review_status: 'init' | 'pending' | 'prechecked' | 'queued' | 'awaitingService' | 'awaitingUser' | 'onHold' | 'completed';
    answer: 'GREEN' | 'RED' | null;
    reject_type: 'RETRY' | 'FINAL' | null;
    person_hash: Buffer | null;
    reviewed_at: string | null;
    as_of: string;
    inserted_at: Generated<string>;
  };
  installation: {
    singleton: Generated<boolean>;
    profile: 'sandbox' | 'production';
    inserted_at: Generated<string>;
  };
  installation_ids: {
    singleton: Generated<boolean>;
    id: Generated<string>;
  };
  installation_secrets: {
    fingerprint: Buffer;
    inserted_at: Generated<string>;
  };
  mail_links: {
    hash: Buffer;
    purpose: 'confirm' | 'reset' | 'change_email';
    user_id: string | null;
    registration: Buffer | null;
    browser: Buffer | null;
    continue_to: string | null;
    expires_at: string;
  };
  mail_outbox: {
    id: string;
    mail: Buffer;
    attempts: Generated<number>;
    next_attempt_at: Generated<string>;
    inserted_at: Generated<string>;
  };
  notice_opt_outs: {
    user_id: string;
    topic: string;
  };
  notices: {
    id: GeneratedAlways<bigint>;
    user_id: string;
    kind: string;
    occurrence: string;
    data: Json<Record<string, unknown>>;
    written_at: Generated<string>;
    retry_at: string | null;
    handled_at: string | null;
  };
  oauth_artifacts: {
    kind: string;
    hash: Buffer;
    grant_id: string | null;
    uid: string | null;
    payload: Json<Record<string, unknown>>;
    expires_at: string;
    consumed_at: string | null;
    inserted_at: Generated<string>;
  };
  oauth_clients: {
    client_id: string;
    partner_id: string;
    redirect_uris: string[];
    post_logout_redirect_uris: Generated<string[]>;
    scopes: string[];
    secret_hash: Buffer;
    previous_secret_hash: Buffer | null;
    previous_secret_until: string | null;
    inserted_at: Generated<string>;
  };
  oauth_grants: {
    id: string;
    client_id: string;
    user_id: string;
    payload: Json<Record<string, unknown>>;
    consented_at: Generated<string>;
    consented_redirect_uris: string[] | null;
    expires_at: string;
    revoked_at: string | null;
    inserted_at: Generated<string>;
  };
  oauth_removed_scopes: {
    client_id: string;
    scope: string;
    removed_at: string;
  };
  oauth_signing_keys: {
    kid: string;
    sealed: Buffer;
    inserted_at: Generated<string>;
    retired_at: string | null;
  };
  oauth_tokens: {
    hash: Buffer;
    client_id: string;
    grant_id: string | null;
    user_id: string | null;
    scope: string;
    payload: Json<Record<string, unknown>>;
    issued_at: string;
    expires_at: string;
    inserted_at: Generated<string>;
  };
  offer_contracts: {
    offer_id: string;
    chain: string;
    kind: 'fund' | 'swap';
    address: string;
    asset_address: string | null;
    allow_list: string | null;
    vault: string | null;
    domain_name: string | null;
    unreadable_code: 'contract_not_found' | 'contract_reverted' | null;
    unreadable_reason: string | null;
    position: number;
  };
  offer_funding_assets: {
    offer_id: string;
    asset_id: string;
    position: number;
  };
  offer_funding_tokens: {
    offer_id: string;
    chain: string;
    asset_id: string;
    address: string;
    decimals: number;
    position: number;
  };
  offer_options: {
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
    accreditation_days: Generated<number>;
  };
  offer_partners: {
    offer_id: string;
    partner_id: string;
  };
  offers: {
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
    open_to_anyone: Generated<boolean>;
    pending_hours: number | null;
    terms: Json<unknown[]>;
    links: Json<unknown[]>;
    faqs: Json<unknown[]>;
    milestones: Json<unknown[]>;
    published_at: string | null;
    closed_at: string | null;
    inserted_at: string;
    updated_at: string;
  };
  operator_attempts: {
    hash: Buffer;
    transaction_id: string;
    raw: Buffer;
    max_fee: string;
    priority_fee: string;
    last_valid_height: bigint | null;
    inserted_at: Generated<string>;
    sent_at: string | null;
  };
  operator_key_uses: {
    chain: string;
    address: string;
    role: 'commit' | 'refund';
    first_height: bigint;
    alive_height: bigint;
  };
  operator_keys: {
    chain: string;
    address: string;
    next_nonce: bigint | null;
    seen_nonce: bigint | null;
    epoch: bigint;
    node: number;
    lease_until: string;
    good_round_at: string | null;
  };
  operator_transactions: {
    id: string;
    chain: string;
    signer: string;
    nonce: bigint | null;
    receipt: string | null;
    kind: 'commit' | 'remit' | 'fill' | 'revoke';
    target: string;
    data: Buffer;
    gas: bigint;
    state: Generated<'open' | 'settled' | 'final' | 'displaced'>;
    mined_hash: Buffer | null;
    block_number: bigint | null;
    block_hash: Buffer | null;
    succeeded: boolean | null;
    fee_paid: string | null;
    requested: 'bump' | 'cancel' | null;
    request_refusal: string | null;
    receipt_closed_at: string | null;
    inserted_at: Generated<string>;
  };
  option_addresses: {
    id: string;
    option_id: string;
    user_id: string;
    protocol: 'ethereum' | 'solana';
    address: string;
    partner_id: string;
    proved_chain: string;
    proved_at: string;
    created_at: string;
  };
  participations: {
    id: string;
    partner_id: string;
    user_id: string;
    offer_id: string;
    offer_option_id: string;
    status: 'prepared' | 'pending' | 'submitted' | 'completed' | 'failed' | 'remit_submitted' | 'remitted' | 'remit_failed';
    reason: string | null;
    frozen_reason: 'hold' | 'sanctions' | null;
    ending_reason: string | null;
    amount: string;
    price_usd: string | null;
    asset_id: string;
    asset_code: string;
    asset_name: string;
    asset_digits: number;
    chain: string;
    wallet_address: string;
    fund_address: string;
    token_address: string;
    source_address: string | null;
    vault_address: string | null;
    approval_hash: Buffer;
    holds_approval: Generated<boolean>;
    prepared_at: string;
    resumed_at: string | null;
    check_at: Generated<string>;
    commit_id: string | null;
    commit_row: number | null;
    committed: boolean | null;
    remit_id: string | null;
    remit_row: number | null;
    inserted_at: string;
    updated_at: string;
  };
  partner_sequences: {
    partner_id: string;
    last: bigint;
  };
  partners: {
    id: string;
    name: string;
    logo_url: string | null;
    origins: Generated<string[]>;
    contact_email: string | null;
    disabled_at: string | null;
    tokens_valid_from: Generated<string>;
    inserted_at: Generated<string>;
  };
  passkey_challenges: {
    hash: Buffer;
    purpose: 'add' | 'sign_in';
    browser: Buffer;
    expires_at: string;
  };
  passkeys: {
    id: string;
    user_id: string;
    credential_id: Buffer;
    public_key: Buffer;
    sign_count: bigint;
    transports: string[];
    name: string;
    last_used_at: string | null;
    inserted_at: Generated<string>;
  };
  pending_sign_ins: {
    hash: Buffer;
    user_id: string;
    attempts: Generated<number>;
    expires_at: string;
  };
  pii: {
    user_id: string;
    sealed: Buffer;
    sealed_facts: Buffer;
    key_id: GeneratedAlways<Buffer>;
    version: number;
    is_stale: Generated<boolean>;
    as_of: string;
    restricted_until: string | null;
    inserted_at: Generated<string>;
    updated_at: Generated<string>;
  };
  pii_audit: {
    id: GeneratedAlways<bigint>;
    user_id: string;
    actor: string;
    action: 'read' | 'write' | 'rotate' | 'restrict' | 'erase';
    fields: string[];
    at: Generated<string>;
  };
  rate_limits: {
    key: string;
    count: number;
    window_end: string;
  };
  reconcile_differences: {
    chain: string;
    key: string;
    offer_ids: string[];
    participation_ids: string[];
    transaction_hashes: string[];
    message: string;
    found_at: Generated<string>;
    accepted_at: string | null;
  };
  reconcile_passes: {
    chain: string;
    to_block: bigint | null;
    cursor: string | null;
    started_at: string;
    finished_at: string | null;
  };
  recovery_codes: {
    user_id: string;
    hash: Buffer;
  };
  refund_limits: {
    id: GeneratedAlways<bigint>;
    limit_usd: string | null;
    recorded_at: Generated<string>;
  };
  refund_requests: {
    id: string;
    operator: string;
    participation_ids: string[];
    amount_usd: string;
    state: 'allowed' | 'unconfirmed' | 'confirmed';
    confirmed_by: string | null;
    inserted_at: Generated<string>;
  };
  reported_offers: {
    offer_id: string;
    partner_id: string;
    state: 'published' | 'started' | 'ended';
  };
  reported_statuses: {
    user_id: string;
    partner_id: string;
    requirement_id: string;
    status: string;
    action: string | null;
  };
  requirements: {
    id: string;
    option_id: string;
    key: string;
    type: 'identity_verification' | 'kyc_approved' | 'accreditation' | 'external_wallet' | 'whitelisted_wallet' | 'document' | 'jurisdiction' | 'acknowledgement';
    details: Json<Record<string, unknown>> | null;
    position: number;
  };
  reserved_supply: {
    offer_option_id: string;
    asset_digits: number;
    price_usd: string | null;
    amount: string;
  };
  sanctions_hits: {
    id: string;
    subject: 'wallet' | 'participation' | 'order';
    subject_id: string;
    address: string;
    user_id: string;
    partner_id: string;
    found_at: string;
    clear_reason: string | null;
    cleared_at: string | null;
  };
  sanctions_list: {
    only_row: Generated<boolean>;
    hash: string;
    addresses: string[];
    accepted_at: string;
    refused_hash: string | null;
    refused_reason: string | null;
    refused_at: string | null;
    screened_hash: string | null;
    screened_at: string | null;
  };
  schema_migrations: {
    name: string;
    sha256: string;
    applied_at: Generated<string>;
  };
  settlement_pauses: {
    subject: string;
    reason: 'operator' | 'unreconciled';
    message: string;
    inserted_at: Generated<string>;
  };
  sign_in_failures: {
    account: Buffer;
    count: number;
    window_end: string;
  };
  sign_in_sources: {
    account: Buffer;
    source: Buffer;
    used_at: Generated<string>;
  };
  status_checks: {
    user_id: string;
    due_at: string;
  };
  tokenized_orders: {
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
    fee: string | null;
    claim: Buffer | null;
    state: 'asking' | 'unknown' | 'attested' | 'live' | 'executed' | 'expired' | 'refused' | 'failed' | 'abandoned';
    restricted_reason: 'hold' | 'sanctions' | null;
    holding: boolean;
    expires_at: string;
    check_at: Generated<string>;
    attestation: Json<Record<string, unknown>> | null;
    attestation_id: string | null;
    from_block: bigint | null;
    transaction_hash: Buffer | null;
    inserted_at: string;
    updated_at: string;
  };
  tokenized_prices: {
    symbol: string;
    recorded_at: string;
    price: string;
    session: string;
    is_kept: boolean;
  };
  totp_secrets: {
    user_id: string;
    sealed_secret: Buffer;
    key_id: GeneratedAlways<Buffer>;
    confirmed_at: string | null;
    last_step: Generated<bigint>;
    inserted_at: Generated<string>;
  };
  unsubscribe_keys: {
    fingerprint: Buffer;
    sealed: Buffer;
  };
  user_holds: {
    id: string;
    user_id: string;
    reason: string;
    held_at: string;
    release_reason: string | null;
    released_at: string | null;
  };
  users: {
    id: string;
    email: string;
    email_confirmed_at: Generated<string>;
    kind: 'person' | 'company';
    password_hash: string | null;
    locale: string | null;
    held_at: string | null;
    inserted_at: Generated<string>;
  };
  wallet_challenges: {
    client_id: string;
    user_id: string;
    chain: string;
    address: string;
    id: string;
    text: string;
    expires_at: string;
    consumed_at: string | null;
  };
  wallet_owner_keys: {
    fingerprint: Buffer;
    sealed: Buffer;
  };
  wallet_owners: {
    hash: Buffer;
    user_id: string;
  };
  wallet_proofs: {
    partner_id: string;
    address: string;
    chain: string;
    protocol: 'ethereum' | 'solana';
    user_id: string;
    kind: 'key' | 'contract';
    text: string | null;
    signature: string | null;
    proved_at: string;
  };
  watched_addresses: {
    chain: string;
    address: string;
    signature: Buffer;
  };
  webhook_attempts: {
    id: string;
    delivery_id: string;
    kind: 'scheduled' | 'resend';
    at: string;
    duration_ms: number;
    status: number | null;
    error: string | null;
    address: string | null;
    response: string | null;
  };
  webhook_deliveries: {
    id: string;
    endpoint_id: string;
    event_id: string;
    subject: string | null;
    sequence: bigint;
    is_head: Generated<boolean>;
    state: Generated<'pending' | 'delivered' | 'failed' | 'skipped'>;
    attempts: Generated<number>;
    step: Generated<number>;
    retry_until: string | null;
    next_attempt_at: Generated<string | null>;
    lease_until: string | null;
    resend_requested: Generated<boolean>;
    resend_lease_until: string | null;
    resend_again: Generated<boolean>;
    inserted_at: string;
  };
  webhook_endpoints: {
    id: string;
    partner_id: string;
    url: string;
    types: string[];
    description: string | null;
    state: Generated<'enabled' | 'failing' | 'disabled'>;
    disabled_reason: 'requested' | 'gone' | 'failing' | null;
    cursor: bigint;
    failures: Generated<number>;
    failing_since: string | null;
    problem_reported: Generated<boolean>;
    sealed_secret: Buffer;
    previous_sealed_secret: Buffer | null;
    previous_secret_until: string | null;
    last_delivered_at: string | null;
    deleted_at: string | null;
    inserted_at: string;
  };
  webhook_receipts: {
    source: 'identity' | 'documents';
    key: Buffer;
    received_at: Generated<string>;
  };
}
