import { ApiError } from '@causeway/service/kernel/errors.ts';
import { newId } from '@causeway/service/kernel/ids.ts';
import { Closed, ObjectName, Timestamp } from '@causeway/service/kernel/wire.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type from 'typebox';
import { INBOX_MODES, type Inbox, type Inboxes } from '../simulators/inbox.ts';
import type { ControlGroup } from './control-group.ts';

const params = Type.Object({ id: Type.String() });
const Mode = Type.Enum([...INBOX_MODES]);
const Summary = { object: ObjectName('inbox'), id: Type.String(), url: Type.String(), mode: Mode };
const Received = Closed({
  at: Timestamp,
  headers: Type.Record(Type.String(), Type.Unknown()),
  body: Type.String(),
});

/** Webhook receivers for tests. Each receiver responds according to its current mode. */
export function inboxControls(inboxes: Inboxes): ControlGroup {
  const require = (id: string): Inbox => {
    const inbox = inboxes.find(id);
    if (inbox === undefined) throw new ApiError('not_found');
    return inbox;
  };
  const describe = ({ id, url, mode }: Inbox) => ({ object: 'inbox' as const, id, url, mode });
  return {
    routes: [
      publicRoute({
        method: 'POST',
        path: '/sandbox/inbox',
        operationId: 'createInbox',
        summary: 'Create a webhook receiver',
        body: Closed({}),
        reply: Closed(Summary),
        errors: ['validation_failed'],
        handle: async ({ clock, random }) => describe(inboxes.create(newId(clock, random))),
      }),
      publicRoute({
        method: 'GET',
        path: '/sandbox/inbox/:id',
        operationId: 'readInbox',
        summary: 'List the requests that a webhook receiver has received, oldest first',
        params,
        reply: Closed({ ...Summary, requests: Type.Array(Received) }),
        errors: ['not_found'],
        handle: async (_ctx, _caller, { params: { id } }) => {
          const inbox = require(id);
          return { ...describe(inbox), requests: inbox.requests };
        },
      }),
      publicRoute({
        method: 'POST',
        path: '/sandbox/inbox/:id',
        operationId: 'setInboxMode',
        summary: 'Set how a webhook receiver responds from now on',
        params,
        body: Closed({ mode: Mode }),
        reply: Closed(Summary),
        errors: ['not_found', 'validation_failed'],
        handle: async (_ctx, _caller, { params: { id }, body: { mode } }) => {
          inboxes.setMode(require(id), mode);
          return describe(require(id));
        },
      }),
    ],
  };
}
