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
}

/** The operator's reason for what an entry records. The entry has the SHA-256 of `salt` and `reason`. */
export interface AuditReasons {
  written: bigint;
  salt: string;
  reason: string;
}

/** The state of the log up to which old entries were deleted; the log starts after it. At most one row. */
export interface AuditStart {
  only_row: Generated<boolean>;
  /** How many entries were deleted. */
  size: bigint;
  /** The root of the tree over these entries. */
  root_hash: Buffer;
  tag: Buffer;
}

export interface AuditFormerKeys {
  public_key: Buffer;
  /** How many entries the log had when the key was replaced. */
  size: bigint;
  /** The root of the tree over these entries. */
  root_hash: Buffer;
  tag: Buffer;
}

export interface AuditCheckpoints {
  size: bigint;
  note: string;
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
