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
  events: Events;
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
