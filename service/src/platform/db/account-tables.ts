import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

type Json = ColumnType<Record<string, unknown>, string, string>;

/** The tables for sign-in and mail; see `tables.ts`. */
export interface AccountTables {
  passkeys: Passkeys;
  passkey_challenges: PasskeyChallenges;
  mail_links: MailLinks;
  browser_sessions: BrowserSessions;
  mail_outbox: MailOutbox;
  sign_in_failures: SignInFailures;
  totp_secrets: TotpSecrets;
  recovery_codes: { user_id: string; hash: Buffer };
  pending_sign_ins: {
    hash: Buffer;
    user_id: string;
    attempts: Generated<number>;
    expires_at: string;
  };
  notices: Notices;
  notice_opt_outs: { user_id: string; topic: string };
  unsubscribe_keys: { fingerprint: Buffer; sealed: Buffer };
  sign_in_sources: { account: Buffer; source: Buffer; used_at: Generated<string> };
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
  purpose: 'confirm' | 'reset' | 'change_email';
  user_id: string | null;
  registration: Buffer | null;
  browser: Buffer | null;
  continue_to: string | null;
  expires_at: string;
}

export interface BrowserSessions {
  hash: Buffer;
  user_id: string;
  id: Generated<string>;
  method: 'password' | 'passkey';
  second_factor: Generated<'totp' | 'recovery_code' | null>;
  browser: Generated<string | null>;
  network: string;
  used_at: Generated<string>;
  signed_in_at: Generated<string>;
  expires_at: string;
}

export interface TotpSecrets {
  user_id: string;
  sealed_secret: Buffer;
  key_id: GeneratedAlways<Buffer>;
  confirmed_at: string | null;
  last_step: Generated<bigint>;
  inserted_at: Generated<string>;
}

export interface MailOutbox {
  id: string;
  mail: Buffer;
  attempts: Generated<number>;
  next_attempt_at: Generated<string>;
  inserted_at: Generated<string>;
}

export interface Notices {
  id: GeneratedAlways<bigint>;
  user_id: string;
  kind: string;
  occurrence: string;
  data: Json;
  written_at: Generated<string>;
  handled_at: Generated<string | null>;
  retry_at: Generated<string | null>;
}

export interface SignInFailures {
  account: Buffer;
  count: number;
  window_end: string;
}
