import Type, { type Static } from 'typebox';
import { List } from '../http/paging.ts';
import { Closed, Nullable, ObjectName, Timestamp } from '../http/wire.ts';

const Url = Type.String({
  maxLength: 2048,
  description: 'An `https` URL on a public address. The same rules hold each time an event is sent.',
});
const Types = Type.Array(
  Type.String({ maxLength: 100, pattern: '^(\\*|[a-z_]+\\.(\\*|[a-z_]+)|redacted)$' }),
  {
    minItems: 1,
    maxItems: 50,
    uniqueItems: true,
    description: 'Event types: exact names, groups such as `participation.*`, or `*`.',
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
    secret: Type.Optional(Type.String({ description: 'Only in the replies that create or rotate it.' })),
    previous_secret_until: Nullable(Timestamp),
    behind: Type.Integer({ minimum: 0, description: 'How many events wait for delivery.' }),
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
        description: '`stopped` delivers everything since the endpoint was disabled, `now` only new events.',
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
