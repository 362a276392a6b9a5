import type { Generated, GeneratedAlways } from 'kysely';

/** The tables of the audit log; see `tables.ts`. */
export interface AuditTables {
  audit_entries: AuditEntries;
  audit_reasons: AuditReasons;
  audit_checkpoints: AuditCheckpoints;
  audit_former_keys: AuditFormerKeys;
  audit_start: AuditStart;
  audit_tiles: AuditTiles;
  audit_blinding: AuditBlinding;
}

export interface AuditEntries {
  written: GeneratedAlways<bigint>;
  entry: string;
  /** Null until the sealer has sealed the entry. */
  position: Generated<bigint | null>;
  leaf_hash: Generated<Buffer | null>;
  chain_hash: Generated<Buffer | null>;
}

/** The operator's reason for what an entry records. The entry has the SHA-256 of `salt` and `reason`. */
export interface AuditReasons {
  written: bigint;
  salt: string;
  reason: string;
}

/** The checkpoint up to which old entries were deleted; the log starts after it. At most one row. */
export interface AuditStart {
  only_row: Generated<boolean>;
  /** How many entries were deleted. */
  size: bigint;
  note: string;
}

export interface AuditFormerKeys {
  public_key: Buffer;
  /** How many entries the log had when the key was replaced. */
  size: bigint;
  /** The chain hash of the last of these entries. */
  chain_hash: Buffer;
  tag: Buffer;
}

export interface AuditCheckpoints {
  size: bigint;
  note: string;
  /**
   * True if the checkpoint signs the root of the Merkle tree. False if it signs the chain hash, as nodes before 0.2
   * did.
   */
  tree: Generated<boolean>;
  at: Generated<string>;
}

/** Hashes of the Merkle tree, 32 bytes each. */
export interface AuditTiles {
  level: number;
  index: bigint;
  hashes: Buffer;
}

/** At most one row. */
export interface AuditBlinding {
  only_row: Generated<boolean>;
  key: Buffer;
}
