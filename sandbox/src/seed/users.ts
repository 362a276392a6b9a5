import { hashPassword } from '@causeway/service/domain/accounts/password.ts';
import { findUserByEmail, insertUser } from '@causeway/service/domain/users/store.ts';
import { invalidField } from '@causeway/service/kernel/errors.ts';
import { newId } from '@causeway/service/kernel/ids.ts';
import type { UserKind } from '@causeway/service/kernel/model/personal-data.ts';
import type { Context } from '@causeway/service/platform/context/context.ts';

export type SandboxUser = { id: string; email: string; password: string; kind: UserKind };
export type SeededUser = SandboxUser & { note: string };

const SEEDS = [
  {
    email: 'ada@sandbox.test',
    password: 'ada-in-the-sandbox',
    kind: 'person',
    note: 'a person with no checks completed',
  },
  {
    email: 'grace@sandbox.test',
    password: 'grace-in-the-sandbox',
    kind: 'person',
    note: 'a second person, for tests with two users',
  },
  {
    email: 'acme@sandbox.test',
    password: 'acme-in-the-sandbox',
    kind: 'company',
    note: 'a company with no checks completed',
  },
] as const;

/** Creates the users that every sandbox has, unless they already exist. */
export async function seedUsers(ctx: Context): Promise<SeededUser[]> {
  return Promise.all(
    SEEDS.map(async (seed) => {
      const existing = await findUserByEmail(ctx.db, seed.email);
      if (existing !== undefined) return { ...seed, id: existing.id };
      const id = newId(ctx.clock, ctx.random);
      const { email, kind, password } = seed;
      await insertUser(ctx.db, { id, email, kind, password_hash: await hashPassword(ctx, password) });
      return { ...seed, id };
    }),
  );
}

/** Creates a user with a random password. Throws `validation_failed` if the email address is taken. */
export async function createUser(
  ctx: Context,
  { email, kind = 'person' }: { email?: string; kind?: UserKind },
): Promise<SandboxUser> {
  const id = newId(ctx.clock, ctx.random);
  const user = { id, email: email ?? `user-${id.slice(-12)}@sandbox.test`, kind };
  const password = ctx.random(12).toString('base64url');
  const isNew = await insertUser(ctx.db, { ...user, password_hash: await hashPassword(ctx, password) });
  if (!isNew) throw invalidField('email', 'already has an account');
  return { ...user, password };
}
