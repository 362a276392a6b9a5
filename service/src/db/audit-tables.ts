import type { Generated, GeneratedAlways } from 'kysely';

/** The tables of the audit log; see `tables.ts`. */
export interface AuditTables {
  audit_entries: AuditEntries;
  audit_checkpoints: AuditCheckpoints;
  audit_former_keys: { public_key: Buffer; tag: Buffer };
}

export interface AuditEntries {
  written: GeneratedAlways<bigint>;
  entry: string;
  /** Null until the sealer has sealed the entry. */
  position: Generated<bigint | null>;
  leaf_hash: Generated<Buffer | null>;
  chain_hash: Generated<Buffer | null>;
}

export interface AuditCheckpoints {
  size: bigint;
  note: string;
  at: Generated<string>;
}
