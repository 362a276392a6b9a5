import { hashPassword } from '@causeway/service/accounts/password.ts';
import { findUserByEmail, insertUser, type UserKind } from '@causeway/service/accounts/store.ts';
import type { Context } from '@causeway/service/context.ts';
import { invalidField } from '@causeway/service/errors.ts';
import { newId } from '@causeway/service/http/ids.ts';
import { publicRoute } from '@causeway/service/http/route.ts';
import { Closed, Email, ObjectName } from '@causeway/service/http/wire.ts';
import Type, { type Static } from 'typebox';

export type SandboxUser = { id: string; email: string; password: string; kind: UserKind };

const Kind = Type.Enum(['person', 'company'] as const);
const CreateUser = Closed({
  email: Type.Optional(Email),
  kind: Type.Optional(Kind),
  country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', description: 'Two letters, ISO 3166-1.' })),
});

const SEEDS = [
  {
    email: 'ada@sandbox.test',
    password: 'ada-in-the-sandbox',
    kind: 'person',
    note: 'a person who has done nothing yet',
  },
  {
    email: 'grace@sandbox.test',
    password: 'grace-in-the-sandbox',
    kind: 'person',
    note: 'another person, for two users at once',
  },
  {
    email: 'acme@sandbox.test',
    password: 'acme-in-the-sandbox',
    kind: 'company',
    note: 'a company that has done nothing yet',
  },
] as const;

/** Told where a new user lives, so that the identity provider can be. */
export type OnUser = (user: { id: string; country: string | null }) => Promise<unknown>;

export function userRoute(onUser: OnUser = async () => {}) {
  return publicRoute({
    method: 'POST',
    path: '/sandbox/users',
    operationId: 'createSandboxUser',
    summary: 'Makes a fresh user with a confirmed address',
    body: CreateUser,
    reply: Closed({
      object: ObjectName('user'),
      id: Type.String(),
      email: Type.String(),
      password: Type.String(),
      kind: Kind,
    }),
    errors: ['validation_failed'],
    handle: (ctx, _caller, { body }) => createUser(ctx, body, onUser),
  });
}

async function createUser(
  ctx: Context,
  { email, kind = 'person', country }: Static<typeof CreateUser>,
  onUser: OnUser,
) {
  const id = newId(ctx.clock, ctx.random);
  const user = { id, email: email ?? `user-${id.slice(-12)}@sandbox.test`, kind };
  const password = ctx.random(12).toString('base64url');
  const isNew = await insertUser(ctx.db, { ...user, password_hash: await hashPassword(ctx, password) });
  if (!isNew) throw invalidField('email', 'has an account already');
  await onUser({ id, country: country ?? null });
  return { object: 'user' as const, ...user, password };
}

/** The users that every sandbox has. */
export async function seedUsers(ctx: Context): Promise<(SandboxUser & { note: string })[]> {
  return Promise.all(
    SEEDS.map(async (seed) => {
      const { email, password, kind, note } = seed;
      const known = await findUserByEmail(ctx.db, email);
      if (known !== undefined) return { ...seed, id: known.id };
      const id = newId(ctx.clock, ctx.random);
      await insertUser(ctx.db, { id, email, kind, password_hash: await hashPassword(ctx, password) });
      return { id, email, password, kind, note };
    }),
  );
}
