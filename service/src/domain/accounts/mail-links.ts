import type { UserKind } from '../../kernel/model/personal-data.ts';
import { hashSecret, newSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import * as store from './mail-link-store.ts';

/**
 * A registration whose email address is not confirmed yet. The registration is stored in sealed form, together with the
 * link.
 */
export type Registration = { email: string; kind: UserKind; passwordHash: string; locale?: string };

export type ConfirmLink = { registration: Registration; browser: Buffer | null; continueTo: string | null };

/** Creates a confirmation link and returns its secret. */
export async function createConfirmLink(
  ctx: Context,
  tx: Db,
  link: { registration: Registration; cookie: string; continueTo: string | null },
): Promise<string> {
  const secret = newSecret(ctx.random);
  const hash = hashSecret(secret);
  const plain = Buffer.from(JSON.stringify(link.registration));
  await store.insertConfirmLink(tx, {
    hash,
    registration: ctx.sealing.seal('registration', plain, hash.toString('hex')),
    browser: hashSecret(link.cookie),
    continue_to: link.continueTo,
  });
  return secret;
}

/** Creates a password reset link that replaces the user's older ones, and returns its secret. */
export async function createResetLink(ctx: Context, tx: Db, userId: string): Promise<string> {
  const secret = newSecret(ctx.random);
  await store.insertResetLink(tx, hashSecret(secret), userId);
  return secret;
}

/**
 * Creates a link that confirms the user's new address, and returns the link's secret. Replaces the user's older links
 * of this kind.
 */
export async function createChangeEmailLink(
  ctx: Context,
  tx: Db,
  userId: string,
  email: string,
): Promise<string> {
  const secret = newSecret(ctx.random);
  const hash = hashSecret(secret);
  const address = ctx.sealing.seal('new address', Buffer.from(email), hash.toString('hex'));
  await store.insertChangeEmailLink(tx, { hash, userId, address });
  return secret;
}

/** Returns the address that the link confirms, or null if the link has expired, was used or belongs to another user. */
export async function findNewAddress(ctx: Context, userId: string, secret: string): Promise<string | null> {
  const hash = hashSecret(secret);
  const sealed = await store.findChangeEmailLink(ctx.db, hash, userId);
  return sealed === null ? null : ctx.sealing.open('new address', sealed, hash.toString('hex')).toString();
}

/** Reads the link without consuming it, because mail scanners open every link in an email. */
export async function findConfirmLink(ctx: Context, secret: string): Promise<ConfirmLink | null> {
  const hash = hashSecret(secret);
  const row = await store.findConfirmLink(ctx.db, hash);
  if (!row?.registration) return null;
  const plain = ctx.sealing.open('registration', row.registration, hash.toString('hex'));
  return { registration: JSON.parse(plain.toString()), browser: row.browser, continueTo: row.continue_to };
}

export async function findResetLink(
  { db }: Context,
  secret: string,
): Promise<{ userId: string; email: string } | null> {
  return (await store.findResetLink(db, hashSecret(secret))) ?? null;
}

/** Consumes the link. Only one of several concurrent calls returns true. */
export function consumeLink(tx: Db, purpose: store.LinkPurpose, secret: string): Promise<boolean> {
  return store.consumeLink(tx, purpose, hashSecret(secret));
}
