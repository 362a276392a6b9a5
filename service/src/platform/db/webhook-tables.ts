import type { Generated } from 'kysely';

/** The tables for webhook endpoints and deliveries; see `tables.ts`. */
export interface WebhookTables {
  webhook_endpoints: WebhookEndpoints;
  webhook_deliveries: WebhookDeliveries;
  webhook_attempts: WebhookAttempts;
  webhook_attempts_default: WebhookAttempts;
}

export interface WebhookEndpoints {
  id: string;
  partner_id: string;
  url: string;
  types: string[];
  description: string | null;
  state: Generated<'enabled' | 'failing' | 'disabled'>;
  disabled_reason: Generated<DisabledReason | null>;
  /** The sequence number of the last event that deliveries were created for. */
  cursor: bigint;
  failures: Generated<number>;
  failing_since: Generated<string | null>;
  problem_reported: Generated<boolean>;
  sealed_secret: Buffer;
  previous_sealed_secret: Generated<Buffer | null>;
  previous_secret_until: Generated<string | null>;
  last_delivered_at: Generated<string | null>;
  deleted_at: Generated<string | null>;
  inserted_at: string;
}

export type DisabledReason = 'requested' | 'gone' | 'failing';

export interface WebhookDeliveries {
  id: string;
  endpoint_id: string;
  event_id: string;
  subject: string | null;
  sequence: bigint;
  /**
   * Whether this delivery is the next to send. Among an endpoint's pending deliveries about the same subject, only one
   * is next. Meaningless once the delivery is no longer pending.
   */
  is_head: Generated<boolean>;
  state: Generated<'pending' | 'delivered' | 'failed' | 'skipped'>;
  attempts: Generated<number>;
  step: Generated<number>;
  retry_until: Generated<string | null>;
  next_attempt_at: Generated<string | null>;
  lease_until: Generated<string | null>;
  resend_requested: Generated<boolean>;
  resend_lease_until: Generated<string | null>;
  /** Whether another resend was requested while a resend was in progress. */
  resend_again: Generated<boolean>;
  inserted_at: string;
}

export interface WebhookAttempts {
  id: string;
  delivery_id: string;
  kind: 'scheduled' | 'resend';
  at: string;
  duration_ms: number;
  status: number | null;
  error: string | null;
  address: string | null;
  response: string | null;
}
