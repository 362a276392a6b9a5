import type { Generated } from 'kysely';

/**
 * The tables as queries see them, one interface each, named as in the migrations. Column types as `column-types.ts`
 * reads them: timestamptz `string`, int8 `bigint`, numeric `string`.
 */
export interface Database {
  schema_migrations: SchemaMigrations;
  idempotency_keys: IdempotencyKeys;
  rate_limits: RateLimits;
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
