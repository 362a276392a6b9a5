import Type, { type Static } from 'typebox';
import { List } from '../../kernel/paging.ts';
import { Closed, Nullable, ObjectName, Timestamp } from '../../kernel/wire.ts';

const Url = Type.String({
  maxLength: 2048,
  description:
    'An `https` URL with a public address. The address is checked again each time an event is sent.',
});
const Types = Type.Array(
  Type.String({ maxLength: 100, pattern: '^(\\*|[a-z_]+\\.(\\*|[a-z_]+)|redacted)$' }),
  {
    minItems: 1,
    maxItems: 50,
    uniqueItems: true,
    description:
      'Event types: exact names, groups such as `participation.*`, `redacted` for events that you may not read, or `*` for all.',
  },
);
const Description = Type.String({ maxLength: 500 });

export const NewEndpoint = Closed(
  { url: Url, types: Types, description: Type.Optional(Nullable(Description)) },
  { title: 'NewWebhookEndpoint' },
);
export type NewEndpoint = Static<typeof NewEndpoint>;

export const EndpointChange = Closed(
  {
    url: Type.Optional(Url),
    types: Type.Optional(Types),
    description: Type.Optional(Nullable(Description)),
  },
  { title: 'WebhookEndpointChange' },
);
export type EndpointChange = Static<typeof EndpointChange>;

export const WebhookEndpoint = Closed(
  {
    object: ObjectName('webhook_endpoint'),
    id: Type.String(),
    url: Type.String(),
    types: Type.Array(Type.String()),
    description: Nullable(Type.String()),
    state: Type.Enum(['enabled', 'failing', 'disabled'], {
      description: '`failing`: an event exhausted its retries, and no attempt has succeeded since.',
    }),
    disabled_reason: Nullable(
      Type.Enum(['requested', 'gone', 'failing'], {
        description: '`gone`: the endpoint answered 410. `failing`: no attempt succeeded for 5 days.',
      }),
    ),
    secret: Type.Optional(
      Type.String({ description: 'Present only in replies that create or rotate the secret.' }),
    ),
    previous_secret_until: Nullable(Timestamp),
    behind: Type.Integer({ minimum: 0, description: 'The number of events waiting for delivery.' }),
    last_delivered_at: Nullable(Timestamp),
    inserted_at: Timestamp,
  },
  { title: 'WebhookEndpoint' },
);
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const WebhookEndpoints = List(WebhookEndpoint, 'WebhookEndpoints');

export const SecretRotation = Closed(
  {
    grace_hours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 168,
        default: 24,
        description: 'How long deliveries also carry a signature with the previous secret.',
      }),
    ),
  },
  { title: 'WebhookSecretRotation' },
);

export const Enabling = Closed(
  {
    from: Type.Optional(
      Type.Enum(['stopped', 'now'], {
        default: 'stopped',
        description:
          '`stopped` delivers all events since the endpoint was disabled. `now` delivers only new events.',
      }),
    ),
  },
  { title: 'WebhookEndpointEnabling' },
);
export type Enabling = Static<typeof Enabling>;

export const WebhookTest = Closed(
  { object: ObjectName('webhook_test'), endpoint_id: Type.String(), event_id: Type.String() },
  { title: 'WebhookTest' },
);

export const Nothing = Closed({});

export const WebhookAttempt = Closed(
  {
    object: ObjectName('webhook_attempt'),
    id: Type.String(),
    kind: Type.Enum(['scheduled', 'resend']),
    at: Timestamp,
    duration_ms: Type.Integer(),
    status: Nullable(Type.Integer({ description: 'The HTTP status. Only 2xx is a success.' })),
    error: Nullable(
      Type.String({
        description:
          '`timeout`, `connection_refused`, `connection_failed`, `dns_error`, `tls_error` or `address_refused`.',
      }),
    ),
    address: Nullable(Type.String({ description: 'The IP address that the attempt connected to.' })),
    response: Nullable(Type.String({ description: 'The first KiB of the response, as text.' })),
  },
  { title: 'WebhookAttempt' },
);
export type WebhookAttempt = Static<typeof WebhookAttempt>;

export const WebhookAttempts = List(WebhookAttempt, 'WebhookAttempts');

export const WebhookDelivery = Closed(
  {
    object: ObjectName('webhook_delivery'),
    id: Type.String(),
    endpoint_id: Type.String(),
    event_id: Type.String(),
    type: Type.String({ description: 'The event type; `redacted` if the partner may not read it.' }),
    state: Type.Enum(['pending', 'delivered', 'failed', 'skipped'], {
      description:
        '`skipped`: not delivered, because the endpoint was enabled again with `from` set to `now`.',
    }),
    attempts: Type.Integer(),
    next_attempt_at: Nullable(Timestamp),
    last_attempt: Nullable(WebhookAttempt),
    inserted_at: Timestamp,
  },
  { title: 'WebhookDelivery' },
);
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookDeliveries = List(WebhookDelivery, 'WebhookDeliveries');

export const RecoveryRange = Closed(
  {
    since: Timestamp,
    until: Type.Optional({ ...Timestamp, description: 'Default: now.' }),
  },
  { title: 'WebhookRecoveryRange' },
);
export type RecoveryRange = Static<typeof RecoveryRange>;

export const WebhookRecovery = Closed(
  {
    object: ObjectName('webhook_recovery'),
    endpoint_id: Type.String(),
    deliveries: Type.Integer({ description: 'The number of events that will be resent.' }),
  },
  { title: 'WebhookRecovery' },
);
export type WebhookRecovery = Static<typeof WebhookRecovery>;
