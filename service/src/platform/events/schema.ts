import Type, { type Static } from 'typebox';
import { List, PageQuery } from '../../kernel/paging.ts';
import { Closed, Nullable, ObjectName, Timestamp } from '../../kernel/wire.ts';

const Members = Type.Record(Type.String(), Type.Unknown());

export const Event = Closed(
  {
    object: ObjectName('event'),
    id: Type.String(),
    type: Type.String({
      description:
        'For example, `participation.completed`. The type is `redacted` if the user has not allowed this app to read the event, or no longer allows it.',
    }),
    timestamp: Timestamp,
    sequence: Type.Integer({
      minimum: 1,
      description: "The number of the event in the partner's log. The numbers have no gaps.",
    }),
    user_id: Nullable(Type.String()),
    request_id: Nullable(Type.String({ description: 'The id of the API request that caused the event.' })),
    data: Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'Type, ids, status and amounts of the object that the event is about.',
      },
    ),
    changes: Type.Optional(Members),
    related: Type.Optional(Closed({ object: Type.String(), id: Type.String(), path: Type.String() })),
  },
  { title: 'Event' },
);
export type Event = Static<typeof Event>;

export const EventProof = Closed(
  {
    object: ObjectName('event_proof'),
    event_id: Type.String(),
    leaf: Type.String({
      description: 'The event as webhooks deliver it. Its hash is a leaf of the Merkle tree.',
      examples: ['{"object":"event","id":"019a0b1c-2d3e-7f40-8a5b-6c7d8e9f0a1b",…}'],
    }),
    key: Type.String({
      examples: [`causeway/events/019a0b1c-2d3e-7f40-8a5b-000000000007+1b2c3d4e+${'A'.repeat(43)}=`],
      description:
        "The key that verifies the checkpoint (C2SP signed-note). Store it: it changes only when the installation's secret is rotated.",
    }),
    proof: Type.String({
      examples: [
        'c2sp.org/tlog-proof@v1\nindex 4710\n…\n\ncauseway/events/…\n4711\n…\n\n— causeway/events/… …\n',
      ],
      description:
        'A C2SP `tlog-proof`: the inclusion proof of the leaf with the index `sequence` minus one, and a signed checkpoint.',
    }),
  },
  { title: 'EventProof' },
);
export type EventProof = Static<typeof EventProof>;

export const EventList = List(Event, 'Events');

const After = Type.Optional(
  Type.String({
    maxLength: 100,
    description: 'An event id. Returns the events after it, oldest first.',
  }),
);

export const EventQuery = Type.Object({ ...PageQuery.properties, after: After });
export type EventQuery = Static<typeof EventQuery>;

export const StreamQuery = Type.Object({ after: After });
