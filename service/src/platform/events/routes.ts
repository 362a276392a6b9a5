import Type from 'typebox';
import type { Query } from '../http/query-string.ts';
import { partnerRoute } from '../http/route.ts';
import { EVENT_FILTERS, openStream, readEvent, readEvents } from './log.ts';
import { Event, EventList, EventQuery, StreamQuery } from './schema.ts';

export const eventRoutes = [
  partnerRoute('events:read', {
    method: 'GET',
    path: '/v1/events',
    operationId: 'listEvents',
    summary: 'List events',
    description:
      'Returns the newest events first. With `after`, returns the events after that event, oldest first; an empty `data` then means that there are no newer events. Filters: `type`, `user_id`, `subject_id` (the `id` in `data`).',
    query: EventQuery,
    filters: EVENT_FILTERS,
    reply: EventList,
    plainReply: true,
    errors: ['events_expired'],
    handle: (ctx, caller, { query, request }) => readEvents(ctx, caller, query, request.query as Query),
  }),
  partnerRoute('events:read', {
    method: 'GET',
    path: '/v1/events/stream',
    operationId: 'streamEvents',
    summary: 'Stream events',
    description:
      'Streams server-sent events. Resumes after the event in `Last-Event-ID` or `after`; without either, starts with the next new event. After the last past event, the stream sends `event: caught_up`. Before it ends, it sends `event: end` with the reason.',
    query: StreamQuery,
    reply: Event,
    stream: true,
    errors: ['events_expired'],
    handle: (ctx, caller, { query, request }) => openStream(ctx, caller, query, request.headers) as never,
  }),
  partnerRoute('events:read', {
    method: 'GET',
    path: '/v1/events/:id',
    operationId: 'getEvent',
    summary: 'Get an event',
    params: Type.Object({ id: Type.String() }),
    reply: Event,
    plainReply: true,
    errors: ['not_found'],
    handle: (ctx, caller, { params }) => readEvent(ctx, caller, params.id),
  }),
];
