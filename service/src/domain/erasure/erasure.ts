import { type ApiError, invalidField } from '../../kernel/errors.ts';
import { PII_FIELDS } from '../../kernel/model/personal-data.ts';
import { timestampOf, toTimestamp } from '../../kernel/wire.ts';
import { setReason } from '../../platform/audit/store.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { rehearse } from '../../platform/db/rehearse.ts';
import { composeMail } from '../../platform/mail/mail.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { deleteLinksOf } from '../accounts/mail-link-store.ts';
import { deletePasskeysOf } from '../accounts/passkey-store.ts';
import { deleteSecondFactorOf } from '../accounts/second-factor-store.ts';
import { deleteSessionsOf, type Session } from '../accounts/session-store.ts';
import { lockSession } from '../accounts/sessions.ts';
import { removeNetworks } from '../acknowledgements/store.ts';
import { expireSubmissions } from '../documents/store.ts';
import { hasAnyLiveOrder } from '../holdings/order-store.ts';
import { hasParticipations, hasUnsettled } from '../holdings/participation-store.ts';
import { endApplicant } from '../identity/store.ts';
import { deleteNoticesOf } from '../notices/store.ts';
import { revokeUserGrants } from '../oauth/grant-store.ts';
import { deleteTokensOf } from '../oauth/token-store.ts';
import {
  deletePii,
  deletePiiPastRetention,
  findErasure,
  insertAudit,
  insertErasure,
  restrictPii,
} from '../pii/store.ts';
import { rememberOwner } from '../proofs/owner-hashes.ts';
import { deleteProofsOf, listAddressesOf } from '../proofs/proof-store.ts';
import { deleteUserWallets } from '../proofs/store.ts';
import { hasTrades } from '../tokenized/order-list-store.ts';
import { accountRestricted, requireUser } from '../users/account.ts';
import { anonymizeUser, lockHeldUsers } from '../users/store.ts';
import { localeOf } from '../users/user.ts';
import { revokeWalletsOf } from '../wallets/revocation.ts';
import { hasVerifications } from '../wallets/store.ts';
import { countUserData, type UserData } from './store.ts';

/**
 * Retention of identification and tax records after the business relationship ends: five years, as in the EU's
 * anti-money-laundering rules (Directive 2015/849, article 40). US rules do not require a longer retention (31 CFR
 * 1010.430).
 */
const RETENTION_YEARS = 5;

export type Erasure = {
  user_id: string;
  erased: string[];
  kept: string[];
  keep_until: string | null;
  /** The id of the applicant that the identity provider still stores for the user. */
  applicantId: string | null;
  /** The signing provider's ids for signing links that can still be used. */
  openSubmissions: number[];
};

const BLOCKS = {
  open_participations: 'has open participations; wait until they are settled, then erase the user',
  live_orders: 'has live orders; wait until they have expired, then erase the user',
  allowed_wallets:
    'has wallets on allow-lists; the service has started to remove them, so erase the user later',
} as const;

/** `restricted`: the account is on hold, for a reason that is never shown to the user. */
export type ErasureBlock = keyof typeof BLOCKS | 'restricted';

export type ErasureResult = { block: ErasureBlock } | { block: null; erasure: Erasure };

type Parts = Pick<Context, 'db' | 'clock' | 'random' | 'sealing'>;

/** Erases a user for an operator. Throws `account_restricted` or `validation_failed` if that is not possible now. */
export async function eraseUser(ctx: Parts, emailOrId: string, reason: string): Promise<Erasure> {
  const result = await tryErasure(ctx, emailOrId, 'operator', (tx) => setReason(tx, reason));
  if (result.block === null) return result.erasure;
  throw refusalOf(result.block);
}

function refusalOf(block: ErasureBlock): ApiError {
  return block === 'restricted' ? accountRestricted() : invalidField('user', BLOCKS[block]);
}

/** `erasure` is null if `eraseUser` would only start to remove the user's wallets from allow-lists. */
export type ErasurePlan = { id: string; email: string; data: UserData; erasure: Erasure | null };

/** Returns what `eraseUser` would do. Throws like `eraseUser` if that would change nothing. */
export function planErasure(ctx: Parts, emailOrId: string): Promise<ErasurePlan> {
  return rehearse(ctx.db, async (db) => {
    const user = await requireUser(db, emailOrId);
    const data = await countUserData(db, user.id);
    const result = await tryErasure({ ...ctx, db }, emailOrId, 'operator');
    if (result.block !== null && result.block !== 'allowed_wallets') throw refusalOf(result.block);
    return { ...user, data, erasure: result.block === null ? result.erasure : null };
  });
}

/** Deletes the account at its user's request and confirms it by email. Returns why not if it cannot be deleted now. */
export async function deleteAccount(
  ctx: Context,
  session: Pick<Session, 'id' | 'user'>,
): Promise<ErasureBlock | null> {
  const { user } = session;
  const mail = composeMail(user.email, localeOf(user), 'account_deleted', { at: ctx.clock.now() });
  const result = await tryErasure(ctx, user.id, 'user', async (tx) => {
    await lockSession(tx, session);
    await sendMail(ctx, tx, mail);
  });
  if (result.block !== null) return result.block;
  const { applicantId, openSubmissions } = result.erasure;
  const fields = { user_id: user.id, applicant_id: applicantId, submissions: openSubmissions };
  ctx.log.info(fields, 'user deleted their account');
  return null;
}

/**
 * Erases a user as far as the law allows, in one transaction, and closes the account. Deletes the personal data or, if
 * records of the user must be retained, restricts the data until the retention period ends. `confirm` runs in the
 * transaction, before anything is erased.
 *
 * If the user cannot be erased now, erases nothing and returns the reason: the account is on hold, money may still move
 * for the user, or the user has wallets on allow-lists. In the last case, starts to remove these wallets from the
 * allow-lists, so that a later call can succeed.
 */
export async function tryErasure(
  ctx: Parts,
  emailOrId: string,
  actor: 'operator' | 'user',
  confirm: (tx: Db) => Promise<void> = async () => undefined,
): Promise<ErasureResult> {
  return ctx.db.transaction().execute(async (tx): Promise<ErasureResult> => {
    const user = await requireUser(tx, emailOrId);
    if ((await lockHeldUsers(tx, [user.id])).length > 0) return { block: 'restricted' };
    const block = await findBlock(ctx, tx, user.id);
    if (block !== null) return { block };
    if (await revokeWalletsOf(ctx, tx, user.id)) return { block: 'allowed_wallets' };
    await confirm(tx);
    await revokeUserGrants(tx, user.id);
    await deleteTokensOf(tx, user.id);
    await eraseAccount(tx, user.id);
    await eraseWallets(ctx, tx, user.id);
    const { applicantId, isReviewed } = await endApplicant(tx, user.id);
    const { openSubmissions, isSigned } = await expireSubmissions(tx, user.id, timestampOf(ctx.clock));
    const records = listNames({
      'investments: amounts, wallets, dates and outcomes': await hasParticipations(tx, user.id),
      'trades of tokenized assets: amounts, wallets, dates and outcomes': await hasTrades(tx, user.id),
      // Wallets on an allow-list could invest on chain without us.
      'allow-lists: wallets, offers and dates': await hasVerifications(tx, user.id),
      'identification: levels, results, dates and the verified data': isReviewed,
      'tax certification: the fact that a form was signed, and when; the signing provider stores the form':
        isSigned,
    });
    // The retention period starts with the first erasure: erasing the user again does not extend it.
    const earlier = await findErasure(tx, user.id);
    const keep_until = records.length === 0 ? null : (earlier?.keep_until ?? retentionEnd(ctx));
    await erasePii(tx, user.id, keep_until, actor);
    // The rest of each row stays as evidence of what was acknowledged. It contains no personal data once the account is
    // erased.
    const hasAcknowledged = await removeNetworks(tx, user.id);
    const kept = [
      ...records,
      ...listNames({ 'acknowledged documents: which version, and when; no personal data': hasAcknowledged }),
      'the audit log of the personal data (who read or changed it, and when; no values)',
    ];
    await insertErasure(tx, { user_id: user.id, erased_at: timestampOf(ctx.clock), kept, keep_until });
    const erased = { user_id: user.id, erased: listErased(keep_until), kept, keep_until };
    return { block: null, erasure: { ...erased, applicantId, openSubmissions } };
  });
}

async function eraseAccount(tx: Db, userId: string): Promise<void> {
  await deletePasskeysOf(tx, userId);
  await deleteSecondFactorOf(tx, userId);
  await deleteSessionsOf(tx, userId);
  await deleteLinksOf(tx, userId);
  await deleteNoticesOf(tx, userId);
  await anonymizeUser(tx, userId);
}

/**
 * Deletes the user's challenges and proofs, and stores keyed hashes of the wallets. Also deletes the bindings if the
 * user has never invested. Otherwise, the bindings stay with the investment records.
 */
async function eraseWallets(ctx: Pick<Context, 'sealing'>, tx: Db, userId: string): Promise<void> {
  for (const address of await listAddressesOf(tx, userId)) await rememberOwner(ctx, tx, userId, address);
  await deleteProofsOf(tx, userId);
  await deleteUserWallets(tx, userId);
}

function listNames(isKept: Record<string, boolean>): string[] {
  return Object.keys(isKept).filter((name) => isKept[name]);
}

/** Returns why the user's money may still move. Only a preview: `tryErasure` checks more, under a lock. */
export async function findBlock(
  { clock }: Pick<Parts, 'clock'>,
  db: Db,
  userId: string,
): Promise<'open_participations' | 'live_orders' | null> {
  if (await hasUnsettled(db, userId)) return 'open_participations';
  return (await hasAnyLiveOrder(db, userId, timestampOf(clock))) ? 'live_orders' : null;
}

function retentionEnd({ clock }: Parts): string {
  const now = new Date(clock.now());
  const end = Date.UTC(now.getUTCFullYear() + RETENTION_YEARS, now.getUTCMonth(), now.getUTCDate() + 1);
  return toTimestamp(end * 1000);
}

function listErased(keepUntil: string | null): string[] {
  return [
    'email address, password, passkeys, second factor and sessions',
    'connections to partner apps, and wallets that were neither used to invest nor put on an allow-list',
    'open signing links, as soon as the signing provider has archived them',
    keepUntil === null
      ? 'personal data'
      : `personal data: no longer readable, will be deleted on ${keepUntil.slice(0, 10)}`,
  ];
}

async function erasePii(tx: Db, userId: string, keepUntil: string | null, actor: string): Promise<void> {
  const isFound = keepUntil === null ? await deletePii(tx, userId) : await restrictPii(tx, userId, keepUntil);
  if (!isFound) return;
  const action = keepUntil === null ? 'erase' : 'restrict';
  await insertAudit(tx, { user_id: userId, actor, action, fields: [...PII_FIELDS] });
}

export async function erasePiiPastRetention(ctx: Parts): Promise<void> {
  await ctx.db.transaction().execute(async (tx) => {
    for (const user_id of await deletePiiPastRetention(tx, timestampOf(ctx.clock)))
      await insertAudit(tx, { user_id, actor: 'retention', action: 'erase', fields: [...PII_FIELDS] });
  });
}
