import type { Causeway } from '../client.ts';
import type { Chain } from '../wire.ts';

export type SandboxPartner = {
  client_id: string;
  client_secret: string;
  redirect_uris: string[];
  origins: string[];
};
export type SandboxUser = { id: string; email: string; password: string; kind: 'person' | 'company' };

/** The response to `GET /sandbox`: the URLs, credentials, test users, chains, wallets and offers of the sandbox. */
export type SandboxOverview = {
  base_url: string;
  issuer: string;
  docs_url: string;
  demo_url: string | null;
  partner: SandboxPartner;
  other_partner: SandboxPartner;
  users: (SandboxUser & { note: string })[];
  chains: {
    chain: Chain;
    /** Null on Solana. */
    chain_id: number | null;
    rpc_url: string;
    tokens: { asset_id: string; code: string; address: string; decimals: number }[];
  }[];
  /** Funded with gas and test dollars. */
  wallets: { address: string; private_key: string; protocol: 'ethereum' | 'solana' }[];
  offers: {
    id: string;
    slug: string;
    type: string;
    state: 'open' | 'ended' | 'upcoming';
    options: { id: string; slug: string; requirements: string[] }[];
  }[];
};

export type SandboxReview = {
  email: string;
  /** `Sorting_KYC_Level`, `BasicKYCLevel` or `AccreditationIndividual_FullVerification`. */
  level_name: string;
  answer: 'GREEN' | 'RED';
  reject_type?: 'RETRY' | 'FINAL';
  review_status?: string;
  pii?: Record<string, unknown>;
};
export type SandboxVenue = {
  session?: 'regular' | 'premarket' | 'postmarket' | 'overnight' | 'offhours' | 'paused' | 'closed';
  assets?: Record<
    string,
    { paused?: boolean; redeem_only?: boolean; price?: string; max_notional?: string | null }
  >;
};
export type SandboxFault = {
  target: 'identity' | 'documents' | 'venue' | `rpc:${Chain}`;
  mode: 'none' | 'down' | 'slow' | 'garbage' | 'rate_limited';
  for_seconds?: number;
};
export type SandboxTokens = {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
  token_type: string;
};

export type SandboxMail = { to: string; subject: string; text: string; links: string[]; sent_at: string };
/** A webhook receiver. */
export type SandboxInbox = {
  id: string;
  url: string;
  mode: 'ok' | 'error' | 'hang' | 'gone' | 'redirect' | 'drip';
};
export type SandboxInboxRequest = { at: string; headers: Record<string, unknown>; body: string };

/** Controls a sandbox: its users, providers, chains and clock. None of these controls exist in production. */
export type SandboxClient = {
  overview(): Promise<SandboxOverview>;
  createUser(fields?: {
    email?: string;
    kind?: 'person' | 'company';
    country?: string;
  }): Promise<SandboxUser>;
  /** Signs a user in without a browser and returns the tokens. */
  issueTokens(fields: { email: string; scope?: string; client_id?: string }): Promise<SandboxTokens>;
  /** Returns a client for the user with this email address. Without an address, creates a new user. */
  signIn(email?: string): Promise<{ causeway: Causeway; user: { email: string } }>;
  /** Makes the identity provider take the given decision, and returns when the service has applied it. */
  reviewIdentity(review: SandboxReview): Promise<void>;
  /** Acts on a document as the user would, and returns when the service has applied the change. */
  actOnDocument(action: {
    email: string;
    document_type: string;
    action: 'view' | 'sign' | 'decline' | 'expire';
  }): Promise<void>;
  setVenue(venue: SandboxVenue): Promise<void>;
  /** Sends test money: the asset `asset_id`, or gas if `asset_id` is omitted. `amount` is in smallest units. */
  fund(chain: Chain, transfer: { address: string; amount: string; asset_id?: string }): Promise<void>;
  mine(chain: Chain, blocks: number): Promise<void>;
  /** Replaces the latest `depth` blocks. */
  reorganize(chain: Chain, depth: number): Promise<void>;
  setFault(fault: SandboxFault): Promise<void>;
  /** Moves the clock of a sandbox that runs with `CAUSEWAY_CLOCK=test`. */
  moveClock(change: { advance_seconds: number } | { set_to: string }): Promise<void>;
  /** Refunds a participation, as an operator would. */
  refund(participationId: string): Promise<void>;
  /**
   * Returns the mail sent by the service and the documents provider, newest first. If `to` is given, returns only mail
   * to that address.
   */
  mail(to?: string): Promise<SandboxMail[]>;
  createInbox(): Promise<SandboxInbox>;
  /** Sets how an inbox responds from now on. */
  setInbox(id: string, mode: SandboxInbox['mode']): Promise<void>;
  /** Returns the requests that an inbox has received, oldest first. */
  readInbox(id: string): Promise<SandboxInboxRequest[]>;
  holdUser(id: string, reason: string): Promise<void>;
  releaseUser(id: string, reason: string): Promise<void>;
};
