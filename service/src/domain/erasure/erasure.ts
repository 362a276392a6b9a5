import { ApiError, invalidField } from '../../kernel/errors.ts';
import { PII_FIELDS } from '../../kernel/model/personal-data.ts';
import { timestampOf, toTimestamp } from '../../kernel/wire.ts';
import { setReason } from '../../platform/audit/entry.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { rehearse } from '../../platform/db/rehearse.ts';
import { eraseUser as eraseAccount } from '../accounts/erase.ts';
import { eraseUser as eraseAcknowledgements } from '../acknowledgements/erase.ts';
import { eraseUser as eraseDocuments } from '../documents/erase.ts';
import { hasAnyLiveOrder } from '../holdings/live-order.ts';
import { hasUnsettledParticipation } from '../holdings/wallet-use.ts';
import { eraseUser as eraseIdentity } from '../identity/erase.ts';
import { eraseUser as eraseGrants } from '../oauth/erase.ts';
import { eraseUser as eraseParticipations } from '../participations/erase.ts';
import {
  deletePii,
  deletePiiPastRetention,
  findErasure,
  insertAudit,
  insertErasure,
  restrictPii,
} from '../pii/store.ts';
import { eraseUser as eraseOrders } from '../tokenized/erase.ts';
import { accountRestricted } from '../users/account.ts';
import { lockHeld } from '../users/hold.ts';
import { lockUser } from '../users/user.ts';
import { eraseUser as eraseWallets } from '../wallets/erase.ts';
import { revokeWalletsOf } from '../wallets/revocation.ts';
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

/** The error messages that say why a user cannot be erased yet. */
const BLOCKS = {
  open_participations: 'has open participations; wait until they are settled, then erase the user',
  live_orders: 'has live orders; wait until they have expired, then erase the user',
  allowed_wallets:
    'has wallets on allow-lists; the service has started to remove them, so erase the user later',
} as const;

/**
 * Why a user cannot be erased now. `restricted`: the account is on hold, for a reason that is never shown to the user.
 */
export type ErasureBlock = keyof typeof BLOCKS | 'restricted';

export type ErasureResult = { block: ErasureBlock } | { block: null; erasure: Erasure };

type Parts = Pick<Context, 'db' | 'clock' | 'random' | 'sealing'>;

/**
 * Erases a user for an operator. Throws `account_restricted` or `validation_failed` if the user cannot be erased now.
 */
export async function eraseUser(ctx: Parts, emailOrId: string, reason: string): Promise<Erasure> {
  const result = await tryErasure(ctx, emailOrId, 'operator', (tx) => setReason(tx, reason));
  if (result.block === null) return result.erasure;
  throw refusalOf(result.block);
}

function refusalOf(block: ErasureBlock): ApiError {
  return block === 'restricted' ? accountRestricted() : invalidField('user', BLOCKS[block]);
}

/**
 * What `eraseUser` would erase and keep. `erasure` is null if it would only start to remove the user's wallets from
 * allow-lists.
 */
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

async function requireUser(tx: Db, emailOrId: string): Promise<{ id: string; email: string }> {
  const user = await lockUser(tx, emailOrId);
  if (user === undefined) throw new ApiError('not_found', {}, { message: `User ${emailOrId} not found.` });
  return user;
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
    if ((await lockHeld(tx, [user.id])).length > 0) return { block: 'restricted' };
    const block = await findBlock(ctx, tx, user.id);
    if (block !== null) return { block };
    if (await revokeWalletsOf(ctx, tx, user.id)) return { block: 'allowed_wallets' };
    await confirm(tx);
    await eraseGrants(tx, user.id);
    await eraseAccount(tx, user.id);
    const wallets = await eraseWallets(ctx, tx, user.id);
    const investments = await eraseParticipations(tx, user.id);
    const orders = await eraseOrders(tx, user.id);
    const identity = await eraseIdentity(tx, user.id);
    const documents = await eraseDocuments(tx, user.id, timestampOf(ctx.clock));
    const records = [investments, orders, wallets, identity, documents];
    const reasons = records.flatMap(({ kept }) => kept);
    // The retention period starts with the first erasure: erasing the user again does not extend it.
    const earlier = await findErasure(tx, user.id);
    const keep_until = reasons.length === 0 ? null : (earlier?.keep_until ?? retentionEnd(ctx));
    await erasePii(tx, user.id, keep_until, actor);
    const acknowledgements = await eraseAcknowledgements(tx, user.id);
    const kept = [
      ...reasons,
      ...acknowledgements.kept,
      'the audit log of the personal data (who read or changed it, and when; no values)',
    ];
    await insertErasure(tx, { user_id: user.id, erased_at: timestampOf(ctx.clock), kept, keep_until });
    const erasure = {
      ...{ user_id: user.id, erased: listErased(keep_until), kept, keep_until },
      applicantId: identity.applicantId,
      openSubmissions: documents.openSubmissions,
    };
    return { block: null, erasure };
  });
}

/** Returns why the user's money may still move, or null if it cannot. */
export async function findBlock(
  { clock }: Pick<Parts, 'clock'>,
  db: Db,
  userId: string,
): Promise<'open_participations' | 'live_orders' | null> {
  if (await hasUnsettledParticipation(db, userId)) return 'open_participations';
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

/** Deletes restricted personal data whose retention period has ended. */
export async function erasePiiPastRetention(ctx: Parts): Promise<void> {
  await ctx.db.transaction().execute(async (tx) => {
    for (const user_id of await deletePiiPastRetention(tx, timestampOf(ctx.clock)))
      await insertAudit(tx, { user_id, actor: 'retention', action: 'erase', fields: [...PII_FIELDS] });
  });
}
