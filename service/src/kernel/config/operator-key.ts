import type { KeyRole, SendingRole } from './role.ts';

type AwsCredentials = {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
};

export type KmsKey = {
  /** Key id, alias or ARN of a key with usage SIGN_VERIFY. */
  keyId: string;
  region: string;
  /** The URL of the KMS endpoint; null = the region's public endpoint. */
  endpoint: string | null;
  credentials: AwsCredentials;
};

/** How much a role may spend on fees, and how much of each token, in 24 hours. Null = no limit. */
export type SpendLimits = { dailyFee: bigint | null; dailyAmounts: ReadonlyMap<string, bigint> | null };

/** What one role may sign on one chain. */
export type RolePolicy = SpendLimits & {
  /**
   * The contracts that the role may call, or for which it may sign typed data. On Solana, these are funds and vaults.
   */
  targets: ReadonlySet<string>;
};

/** What keys may sign on one chain. A role without its own policy uses the chain's policy. */
export type ChainPolicy = RolePolicy & { roles?: ReadonlyMap<KeyRole, RolePolicy> };

/**
 * The policy for each chain, keyed by chain id (EVM chains) or by name (Solana clusters). Null allows any target on any
 * chain, without limits.
 */
export type SignerPolicy = ReadonlyMap<number | string, ChainPolicy> | null;

/** A key in this process or in a KMS. A local key is a `Buffer`, because the logger never prints buffers. */
export type OperatorKey = ({ kind: 'local'; privateKey: Buffer } | { kind: 'kms'; key: KmsKey }) & {
  /** What the key may sign. If absent, the key may sign for any contract and any amount. */
  policy?: SignerPolicy;
  /**
   * The folder that holds the record of what the keys have signed in the last 24 hours. If absent, the record is kept
   * in memory.
   */
  spendFolder?: string | null;
};

/**
 * The key of one role on one chain. If `chain` is null, the key is for all EVM chains. If only other nodes have the
 * key, `key` is null and `address` is the key's address.
 */
export type RoleKey = { role: KeyRole; chain: string | null } & (
  | { key: OperatorKey }
  | { key: null; address: string }
);

/** A replaced key, and the roles that it had. */
export type RetiredKey = { key: OperatorKey; roles: readonly SendingRole[] };
