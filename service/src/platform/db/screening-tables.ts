import type { Generated } from 'kysely';

/** The tables for sanctions screening; see `tables.ts`. */
export interface ScreeningTables {
  sanctions_list: SanctionsList;
  sanctions_hits: SanctionsHits;
}

export interface SanctionsList {
  only_row: Generated<boolean>;
  hash: string;
  addresses: string[];
  accepted_at: string;
  refused_hash: string | null;
  refused_reason: string | null;
  refused_at: string | null;
  screened_hash: string | null;
  screened_at: string | null;
}

export interface SanctionsHits {
  id: string;
  subject: 'wallet' | 'participation' | 'order';
  subject_id: string;
  address: string;
  user_id: string;
  partner_id: string;
  found_at: string;
  clear_reason: Generated<string | null>;
  cleared_at: Generated<string | null>;
}
