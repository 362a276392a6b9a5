import type { Chains } from '../chain/open-chains.ts';
import type { Signatures } from '../chain/signatures.ts';
import type { Db } from '../db/pool.ts';
import type { RetiredSigner, SignerOf } from '../operator/signers.ts';
import type { SolanaSignerOf } from '../operator/solana-signers.ts';
import type { CachedVenue } from '../providers/cached-venue.ts';
import type { DocumentProvider } from '../providers/documents.ts';
import type { IdentityProvider } from '../providers/identity.ts';
import type { Kernel } from './kernel.ts';
import type {
  Catalogue,
  Decision,
  EventStreams,
  FactsOpener,
  OAuth,
  Readiness,
  Sanctions,
  Supplier,
  TokenGuard,
  WebhookSender,
} from './ports.ts';

/** All long-lived objects of a node. `compose.ts` builds the context once; functions receive it as an argument. */
export type Context = Kernel & {
  guard: TokenGuard;
  oauth: OAuth;
  offers: Catalogue;
  identity: IdentityProvider;
  documents: DocumentProvider;
  openPiiFacts: FactsOpener;
  chains: Chains;
  signatures: Signatures;
  sanctions: Sanctions;
  supplier: Supplier;
  /**
   * Returns the key of a role on an EVM chain, or null if this process has no key for the role. Without a key, this
   * process does not act in the role.
   */
  signerOf: SignerOf;
  /** Replaced keys whose transactions are still tracked. */
  retiredSigners: readonly RetiredSigner[];
  /** Returns the key of a role on a Solana cluster, or null if this process has no key for the role there. */
  solanaSignerOf: SolanaSignerOf;
  venue: CachedVenue;
  streams: EventStreams;
  webhooks: WebhookSender;
  readiness: Readiness;
  /**
   * Throws `account_restricted` if the user is on hold. Every API request that writes for a user calls this function,
   * unless the claim of its idempotency key has checked the same.
   */
  assertMayWrite(userId: string): Promise<void>;
  /** Records in the audit log that a caller was refused. Returns immediately and never throws. */
  recordRefusal(refusal: Decision): void;
  /**
   * Runs the transaction whose result becomes the reply. If the request has an idempotency key, also stores the reply
   * in this transaction. Every POST must therefore make its last write in this transaction.
   */
  commitReply<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  /** Returns the context for a partner's requests. Partners take turns using the database and the providers. */
  forPartner(partnerId: string): Context;
};
