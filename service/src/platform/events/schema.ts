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
