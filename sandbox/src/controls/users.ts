import { findUserByEmail, type User } from '@causeway/service/domain/users/store.ts';
import { ApiError } from '@causeway/service/kernel/errors.ts';
import { Closed, Email, ObjectName } from '@causeway/service/kernel/wire.ts';
import type { Context } from '@causeway/service/platform/context/context.ts';
import type { Db } from '@causeway/service/platform/db/pool.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type from 'typebox';
import { createUser, type SeededUser } from '../seed/users.ts';
import type { Simulators } from '../simulators/start.ts';
import type { ControlGroup } from './control-group.ts';

const Kind = Type.Enum(['person', 'company'] as const);
const CreateUser = Closed({
  email: Type.Optional(Email),
  kind: Type.Optional(Kind),
  country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', description: 'Two letters, ISO 3166-1.' })),
});

/** The seeded users, and a route that creates more users. */
export function userControls(
  { baseUrl }: Context,
  users: readonly SeededUser[],
  { control }: Simulators,
): ControlGroup {
  const [first] = users;
  return {
    overview: () => ({ users }),
    routes: [
      publicRoute({
        method: 'POST',
        path: '/sandbox/users',
        operationId: 'createSandboxUser',
        summary: 'Create a user with a confirmed email address',
        body: CreateUser,
        reply: Closed({
          object: ObjectName('user'),
          id: Type.String(),
          email: Type.String(),
          password: Type.String(),
          kind: Kind,
        }),
        errors: ['validation_failed'],
        handle: async (ctx, _caller, { body: { country, ...input } }) => {
          const user = await createUser(ctx, input);
          // Sets the country of the fictional person that the identity provider uses for this user.
          if (country !== undefined) await control.call('identity/country', { user_id: user.id, country });
          return { object: 'user' as const, ...user };
        },
      }),
    ],
    readyLines: [`  Sign in    ${baseUrl}/sign-in  (${first?.email} / ${first?.password})`],
  };
}

/** Throws `not_found` if no user has this email address. */
export async function requireUserByEmail(db: Db, email: string): Promise<User> {
  const user = await findUserByEmail(db, email);
  if (user === undefined) throw new ApiError('not_found', {}, { message: 'No user has this email address.' });
  return user;
}
