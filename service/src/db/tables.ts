import type { Generated } from 'kysely';

/**
 * The tables as queries see them, one interface each, named as in the migrations. Column types as `column-types.ts`
 * reads them: timestamptz `string`, int8 `bigint`, numeric `string`.
 */
export interface Database {
  schema_migrations: SchemaMigrations;
  idempotency_keys: IdempotencyKeys;
  rate_limits: RateLimits;
  users: Users;
  passkeys: Passkeys;
  passkey_challenges: PasskeyChallenges;
  mail_links: MailLinks;
  browser_sessions: BrowserSessions;
  mail_outbox: MailOutbox;
  sign_in_failures: SignInFailures;
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
