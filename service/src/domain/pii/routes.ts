import { userRoute } from '../../platform/http/route.ts';
import { readPii } from './pii.ts';
import { UserPii } from './schema.ts';

export const piiRoutes = [
  userRoute('pii:read', {
    method: 'GET',
    path: '/v1/pii',
    operationId: 'getPii',
    summary: "Get the user's personal data",
    description:
      'Returns the data that the identity provider verified; unknown fields are null. Every read is recorded.',
    reply: UserPii,
    isAudited: true,
    errors: ['not_found'],
    handle: (ctx, caller) => readPii(ctx, caller),
  }),
];
