import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import type { AccountClaims, InteractionResults } from 'oidc-provider';
import type { Hex } from 'viem';
import type { Caller, Guard } from '../../kernel/access.ts';
import type { ConnectedApp } from '../../kernel/model/connected-app.ts';
import type { OfferDetails, OfferList, OfferSummary } from '../../kernel/model/offer.ts';
import type { PiiFacts } from '../../kernel/model/personal-data.ts';
import type { OfferRequirements } from '../../kernel/model/requirement.ts';
import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import type { EvmChain } from '../chain/evm/client.ts';

// The parts of `Context` that features implement. Folders below the features know them by these types only.

/** How a user has signed in to the hosted pages. */
export type PageSignIn = {
  userId: string;
  /** Unix time. */
  at: number;
  amr: string[];
};

/** Callbacks that the hosted pages register with the authorization server. */
export type OAuthHooks = {
  /**
   * Reads the user's sign-in to the hosted pages from the browser's cookies. If this callback is set, oidc-provider's
   * session follows the hosted pages. The session ends when the user signs out or switches accounts there, and is
   * updated when the user signs in again.
   */
  signIn: ((cookies: string | undefined) => Promise<PageSignIn | null>) | null;
  /** Returns whether the user has a sign-in method that meets one of the requested contexts (`acr_values`). */
  canStepUp: ((userId: string, requested: readonly string[]) => Promise<boolean>) | null;
};

/** A valid access token, with everything that a bearer check or an introspection needs to know about it. */
export type VerifiedToken = {
  caller: Caller;
  scope: string;
  /** The user's email address. Null without the scope `email`. */
  username: string | null;
  /** Unix time, by the database's clock. */
  iat: number;
  exp: number;
  /** In milliseconds, comparable with `performance.now()`. A jump of this node's clock does not change it. */
  expiresAt: number;
  /**
   * What the token depends on. A notification such as `grant <id>` says that this grant was revoked or changed. The
   * guard then removes all tokens with this tag from its cache.
   */
  tags: { token: string; grant: string | null; client: string; partner: string; user: string | null };
};

/** A registered client of an enabled partner. */
export type RegisteredClient = {
  client_id: string;
  partner_id: string;
  name: string;
  logo_url: string | null;
  origins: string[];
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  scopes: string[];
  /** The hash of the secret, or two hashes while the secret is being rotated. */
  secret_hashes: Buffer[];
};

/** Checks bearer tokens and looks up clients, with a cache for each. Introspection uses the same caches. */
export type TokenGuard = Guard & {
  /**
   * Applies a database notification, for example that a grant was revoked. When this node itself revokes something, it
   * calls this function directly, so that the revocation takes effect before the node replies.
   */
  applyNotification(message: string): void;
  /**
   * Returns the token, or null if it is not valid. If the token is not cached, the query for the token waits in the
   * database lane (queue) of `network`, the IP network that the request comes from. Without `network`, the query waits
   * in the node's own lane.
   */
  inspect(token: string, network?: string): VerifiedToken | null | Promise<VerifiedToken | null>;
  client(clientId: string): RegisteredClient | undefined | Promise<RegisteredClient | undefined>;
  /** `hits`: token checks that the cache answered. `misses`: all other token checks. */
  cacheCounts: Readonly<{ hits: number; misses: number }>;
};

export type IdTokenHint = { clientId: string; userId: string };

export type RequestFacts = {
  id: string;
  /** The queue (lane) in which the request waits for the database. */
  lane: string;
};

export type Interaction = InstanceType<Provider['Interaction']>;

/** The part of the authorization server that the rest of the service uses. */
export type OAuth = {
  /** The current oidc-provider instance; rotating the signing keys replaces it. */
  provider(): Provider;
  hooks: OAuthHooks;
  /** Runs `work` for a request. If `work` creates or revokes grants, the audit log records the request. */
  within<T>(request: RequestFacts, work: () => T): T;
  /** Returns the interaction behind a page at `/interaction/{uid}`. Throws if this browser has none. */
  interaction(request: FastifyRequest): Promise<Interaction>;
  /** Grants the requested scopes. Pass the result to `finishInteraction`. */
  allowConsent(interaction: Interaction): Promise<InteractionResults>;
  /** Stores the user's decision and returns the URL to redirect the browser to (with 303). */
  finishInteraction(request: FastifyRequest, result: InteractionResults): Promise<string>;
  /** Returns the claims about a user for an ID token. */
  accountClaims(userId: string): Promise<AccountClaims>;
  findClient(clientId: string): Promise<RegisteredClient | undefined>;
  /**
   * Returns the user and the client of an ID token that we issued, even if the token has expired. Returns null if we
   * did not issue the token.
   */
  verifyIdTokenHint(idToken: string): Promise<IdTokenHint | null>;
  /** Lists the apps that the user has connected. */
  listGrants(userId: string): Promise<ConnectedApp[]>;
  /**
   * Disconnects one app, or all apps if `clientId` is absent. Their tokens stop working on every node within
   * a second.
   */
  revokeGrant(userId: string, clientId?: string): Promise<void>;
};

/** The event streams that are open on this node. */
export type EventStreams = {
  /**
   * Opens a stream of the events after the position that `start` returns. If `start` returns null, the stream has only
   * new events.
   */
  open(caller: Caller, token: string, start: () => Promise<bigint | null>): Promise<Readable>;
  /** Ends all streams and refuses new ones. */
  close(): void;
};

/** Why no response arrived. */
export type SendError =
  | 'timeout'
  | 'connection_refused'
  | 'connection_failed'
  | 'dns_error'
  | 'tls_error'
  | 'address_refused'
  | 'stopped';

export type SendResult = {
  durationMs: number;
  status: number | null;
  error: SendError | null;
  /** The address that the request was sent to; null if no connection was made. */
  address: string | null;
  /** The first KiB of the response. */
  response: string | null;
  retryAfterSeconds: number | null;
};

export type WebhookSender = {
  /** Throws `webhook_url_refused` if webhooks cannot be sent to the URL. */
  checkUrl(url: string): Promise<void>;
  /** Posts the body once. Does not follow redirects and never rejects. */
  send(url: string, headers: Record<string, string>, body: string): Promise<SendResult>;
  /**
   * Sends a HEAD request, with the same checks as `send`. Returns null if a response arrived, and the error otherwise.
   * Never rejects.
   */
  probe(url: string): Promise<SendError | null>;
  /** Aborts all requests. A `send` in progress then returns the error `stopped`. */
  close(): Promise<void>;
};

export type AllowRequest = { chain: EvmChain; contract: Hex; wallet: Hex; offerId: string };

/** The transaction that the wallet broadcasts to join an allow-list. `deadline` is in epoch milliseconds. */
export type AllowTransaction = { to: Hex; data: Hex; deadline: number };

/**
 * The interface to the supplier, which admits a wallet to an allow-list once the user has proven ownership of the
 * wallet.
 */
export type Supplier = {
  /**
   * Returns whether the supplier can admit wallets to this allow-list. Returns false if the issuer maintains the list
   * itself.
   */
  canAdmit(list: Pick<AllowRequest, 'chain' | 'contract'>): Promise<boolean>;
  verifyWallet(request: AllowRequest): Promise<AllowTransaction>;
};

/** The sanctions list in use. `domain/screening/list.ts` loads it. */
export type Sanctions = {
  has(address: string): boolean;
  /** Every listed address: EVM in lower case, Solana as written. */
  addresses(): ReadonlySet<string>;
  /** Identifies the list; null if the service runs without one. */
  hash(): string | null;
  /** Reads the file again. If the new list is rejected, the previous list stays in use. */
  reload(): Promise<void>;
  /** Calls `listener` after the list has changed. */
  onChange(listener: () => void): void;
  close(): void;
};

/** Opens sealed facts. Caches them per user, because every poll of the user's statuses needs them. */
export type FactsOpener = (userId: string, sealed: Buffer) => PiiFacts;

/** A stored offer, with the API replies about it computed in advance. */
export type Offer = StoredOffer & {
  /** When the sale opens and ends, in epoch milliseconds; `-Infinity` or `Infinity` if the offer sets no such time. */
  opens: number;
  ends: number;
  summary: OfferSummary;
  details: OfferDetails;
  requirements: OfferRequirements;
};

/** The published offers of one partner. */
export type PartnerOffers = {
  /** Newest first. */
  offers: readonly Offer[];
  /** Keyed by id and by slug. */
  byKey: ReadonlyMap<string, Offer>;
  /** Cached first pages, keyed by the requested limit. */
  firstPages: Map<number, OfferList>;
};

export type Catalogue = {
  /** Returns a partner's published offers, synchronously if they are cached. */
  of(partnerId: string): PartnerOffers | Promise<PartnerOffers>;
};

export type PartState = 'ok' | 'unavailable';

/** The state that `/health/ready` reports: each dependency's state, and whether this node can answer requests. */
export type Readiness = {
  read(): Promise<{ isReady: boolean; parts: Record<string, PartState> }>;
  /** Reports this node as not ready until the process ends, so that load balancers stop sending requests. */
  drain(): void;
  isDraining(): boolean;
  /** Call this when the database has refused a statement because its disk is full. */
  reportFullDisk(): void;
};

export type Decision = {
  actor: { object: string; id: string | null };
  /** The decision, for example `access.refused`. */
  action: string;
  subject: { object: string; id: string | null };
  /** The code of the reason, such as `user_request`; null if there is none. */
  reason: string | null;
  requestId: string | null;
};
