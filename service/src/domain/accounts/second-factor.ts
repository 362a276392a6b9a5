import { realTime } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { hashSecret } from '../../kernel/secret-hash.ts';
import { recordDecision } from '../../platform/audit/store.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { composeMail } from '../../platform/mail/mail.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { recoveryCodesPage, totpPage } from '../../platform/pages/security-pages.ts';
import { lockAccount, type User } from '../users/store.ts';
import { localeOf } from '../users/user.ts';
import { withRecentSession } from './page-route.ts';
import * as store from './second-factor-store.ts';
import { deleteSessionsOf, type SecondFactor, type Session } from './session-store.ts';
import { lockSession } from './sessions.ts';
import { throttleCode } from './throttle.ts';
import { findTotpStep, TOTP_SECRET_BYTES, toBase32, totpUri } from './totp.ts';

const PURPOSE = 'totp secret';
const RECOVERY_CODES = 10;
/** A recovery code has 80 random bits. Nobody can find it from its hash by guessing, so a plain hash is enough. */
const RECOVERY_CODE_BYTES = 10;
const RESEAL_BATCH_SIZE = 100;

type SecondFactorState = { isOn: boolean; recoveryCodes: number };

export async function readSecondFactor(
  { db }: Pick<Context, 'db'>,
  userId: string,
): Promise<SecondFactorState> {
  const isOn = await hasSecondFactor(db, userId);
  return { isOn, recoveryCodes: isOn ? await store.countRecoveryCodes(db, userId) : 0 };
}

export async function hasSecondFactor(db: Db, userId: string): Promise<boolean> {
  return ((await store.findTotpSecret(db, userId))?.confirmed_at ?? null) !== null;
}

type TotpSetup = { secret: string; uri: string };

/** Returns null if the second factor is on. Replaces an unconfirmed secret, which somebody else may have seen. */
async function startTotp(ctx: Context, user: User): Promise<TotpSetup | null> {
  const secret = ctx.random(TOTP_SECRET_BYTES);
  const sealed = ctx.sealing.seal(PURPOSE, secret, user.id);
  return (await store.upsertUnconfirmedSecret(ctx.db, user.id, sealed)) ? describeSetup(user, secret) : null;
}

async function readTotpSetup(ctx: Context, user: User): Promise<TotpSetup | null> {
  const known = await store.findTotpSecret(ctx.db, user.id);
  if (known === undefined || known.confirmed_at !== null) return null;
  return describeSetup(user, openSecret(ctx, user.id, known.sealed_secret));
}

/** Turns the second factor on if the code is right. Returns the recovery codes, which cannot be shown again. */
async function confirmTotp(ctx: Context, session: Session, code: string): Promise<string[] | null> {
  const { user } = session;
  const known = await store.findTotpSecret(ctx.db, user.id);
  if (known === undefined || known.confirmed_at !== null) return null;
  const sealed = known.sealed_secret;
  const step = findTotpStep(openSecret(ctx, user.id, sealed), normalizeCode(code), realTime());
  if (step === null) return null;
  const codes = Array.from({ length: RECOVERY_CODES }, () => toBase32(ctx.random(RECOVERY_CODE_BYTES)));
  return ctx.db.transaction().execute(async (tx) => {
    await lockSession(tx, session);
    if (!(await store.confirmSecret(tx, user.id, sealed, step))) return null;
    await store.replaceRecoveryCodes(tx, user.id, codes.map(hashSecret));
    const url = `${ctx.baseUrl}/forgot`;
    await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'second_factor_added', { url }));
    return codes.map((each) => (each.match(/.{4}/g) ?? []).join('-'));
  });
}

/** Returns which kind of code was consumed, or null if the code is not valid. */
export async function consumeSecondFactor(
  ctx: Context,
  tx: Db,
  userId: string,
  text: string,
): Promise<SecondFactor | null> {
  const code = normalizeCode(text);
  const known = await store.findTotpSecret(tx, userId);
  if (known === undefined || known.confirmed_at === null) return null;
  const step = findTotpStep(openSecret(ctx, userId, known.sealed_secret), code, realTime());
  if (step !== null) return (await store.consumeStep(tx, userId, step)) ? 'totp' : null;
  if (!(await store.consumeRecoveryCode(tx, userId, hashSecret(code)))) return null;
  await recordDecision(tx, {
    ...{ actor: { object: 'user', id: userId }, requestId: ctx.requestId },
    ...{ action: 'user.recovery_code_used', reason: null },
    subject: { object: 'user', id: userId },
  });
  return 'recovery_code';
}

type Parts = Pick<Context, 'db' | 'sealing' | 'clock' | 'random'>;

async function removeSecondFactor(ctx: Context, session: Session): Promise<void> {
  await ctx.db.transaction().execute(async (tx) => {
    await lockSession(tx, session);
    await turnOff(ctx, tx, session.user, `${ctx.baseUrl}/account`);
  });
}

/**
 * Turns off the second factor of a user who has lost both the authenticator app and the recovery codes. Also ends the
 * user's sessions. Returns false if the second factor was already off. The operator must have verified the user's
 * identity first.
 */
export async function resetSecondFactor(ctx: Parts, emailOrId: string, accountUrl: string): Promise<boolean> {
  return ctx.db.transaction().execute(async (tx) => {
    const user = await lockAccount(tx, emailOrId);
    if (user === undefined) throw new ApiError('not_found', {}, { message: `User ${emailOrId} not found.` });
    const isRemoved = await turnOff(ctx, tx, user, accountUrl);
    if (isRemoved) await deleteSessionsOf(tx, user.id);
    return isRemoved;
  });
}

async function turnOff(ctx: Parts, tx: Db, user: User, accountUrl: string): Promise<boolean> {
  if (!(await store.deleteSecondFactorOf(tx, user.id))) return false;
  const mail = composeMail(user.email, localeOf(user), 'second_factor_removed', { url: accountUrl });
  await sendMail(ctx, tx, mail);
  return true;
}

export async function resealTotpSecrets({ db, sealing }: Pick<Context, 'db' | 'sealing'>): Promise<number> {
  let resealed = 0;
  for (;;) {
    const count = await db.transaction().execute(async (tx) => {
      const rows = await store.lockSecretsToReseal(tx, sealing.newestKeyId, RESEAL_BATCH_SIZE);
      for (const { user_id, sealed_secret } of rows) {
        const plain = sealing.open(PURPOSE, sealed_secret, user_id);
        await store.replaceSealedSecret(tx, user_id, sealing.seal(PURPOSE, plain, user_id));
      }
      return rows.length;
    });
    if (count === 0) return resealed;
    resealed += count;
  }
}

function describeSetup({ email }: User, plain: Buffer): TotpSetup {
  const secret = toBase32(plain);
  return { secret, uri: totpUri(email, secret) };
}

function openSecret({ sealing }: Pick<Context, 'sealing'>, userId: string, sealed: Buffer): Buffer {
  return sealing.open(PURPOSE, sealed, userId);
}

/** People type codes with spaces, hyphens and lower-case letters. */
function normalizeCode(text: string): string {
  return text.replace(/[\s-]/g, '').toUpperCase();
}

const PATH = '/account/second-factor';
const ACCOUNT = { redirect: '/account' };

export const showSecondFactor = withRecentSession(PATH, async (ctx, { csrf }, _request, { user }) => {
  const setup = await startTotp(ctx, user);
  return setup === null ? ACCOUNT : { page: totpPage({ csrf, ...setup }) };
});

export const postSecondFactor = withRecentSession(PATH, async (ctx, { csrf, source }, { form }, session) => {
  const { user } = session;
  const attempt = await throttleCode(ctx, user.email, source);
  const codes = await confirmTotp(ctx, session, form.code ?? '');
  if (codes !== null) {
    await attempt.succeed();
    return { page: recoveryCodesPage(codes) };
  }
  const setup = await readTotpSetup(ctx, user);
  if (setup === null) return ACCOUNT;
  const problem = 'That code didn’t work. Check that the app shows “Causeway” and enter its newest code.';
  return { status: 422, page: totpPage({ csrf, ...setup, problem }) };
});

export const removeFactor = withRecentSession('/account', async (ctx, _browser, _request, session) => {
  await removeSecondFactor(ctx, session);
  return { redirect: '/account?notice=second_factor_off' };
});
