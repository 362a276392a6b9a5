import { timestampOf } from '../../kernel/wire.ts';
import { recordDecision } from '../../platform/audit/store.ts';
import type { Context } from '../../platform/context/context.ts';
import { listPasskeys } from '../accounts/passkey-store.ts';
import { readSecondFactor } from '../accounts/second-factor.ts';
import { listSessions } from '../accounts/session-store.ts';
import { listAcknowledgementsOf } from '../acknowledgements/store.ts';
import { listSubmissionsOf } from '../documents/store.ts';
import { listParticipationsOf } from '../holdings/participation-store.ts';
import { listReviewsOf } from '../identity/store.ts';
import { listTopics } from '../notices/preferences.ts';
import { showParticipation } from '../participations/participation.ts';
import { readOwnData } from '../pii/pii.ts';
import { listWalletsOf } from '../proofs/proof-store.ts';
import { showOrder } from '../tokenized/order-list.ts';
import { listOrdersOf } from '../tokenized/order-list-store.ts';
import type { User } from '../users/store.ts';
import { accountCode, localeOf } from '../users/user.ts';

/**
 * Returns the data that users may request about themselves (GDPR articles 15 and 20): account, personal data, checks,
 * forms, acknowledgements, wallets, investments, orders and connected apps. Leaves out secrets, logs, holds, internal
 * decisions, and everything about other users.
 */
export async function exportUser(ctx: Context, user: User) {
  const { db } = ctx;
  const personal_data = await readOwnData(ctx, user.id);
  const apps = await ctx.oauth.listGrants(user.id);
  const data = {
    object: 'data_export',
    exported_at: timestampOf(ctx.clock),
    account: await exportAccount(ctx, user),
    personal_data,
    identity_checks: await exportReviews(ctx, user.id),
    // Without the contents of the forms, which only the signing provider stores.
    tax_forms: await listSubmissionsOf(db, user.id),
    acknowledgements: await listAcknowledgementsOf(db, user.id),
    wallets: await listWalletsOf(db, user.id),
    participations: (await listParticipationsOf(db, user.id)).map(showParticipation),
    tokenized_swap_orders: (await listOrdersOf(db, user.id)).map(showOrder),
    connected_apps: apps.map(({ name, scopes, connected_at }) => ({ name, scopes, connected_at })),
    email_topics: await listTopics(ctx, user.id),
  };
  await recordDecision(db, {
    ...{ actor: { object: 'user', id: user.id }, requestId: ctx.requestId },
    ...{ action: 'user.data_exported', reason: 'user_request' },
    subject: { object: 'user', id: user.id },
  });
  return data;
}

async function exportAccount(ctx: Context, user: User) {
  const { isOn } = await readSecondFactor(ctx, user.id);
  const sessions = await listSessions(ctx.db, user.id);
  const passkeys = await listPasskeys(ctx.db, user.id);
  return {
    id: user.id,
    email: user.email,
    kind: user.kind,
    language: localeOf(user),
    account_code: accountCode(ctx, user.id),
    two_step_sign_in: isOn,
    passkeys: passkeys.map(({ name, inserted_at, last_used_at }) => ({ name, inserted_at, last_used_at })),
    sessions: sessions.map(({ id: _id, ...session }) => session),
  };
}

/** Returns the outcomes of the user's identity checks, without the provider's internal states and reasons. */
async function exportReviews({ db }: Context, userId: string) {
  return (await listReviewsOf(db, userId)).map(({ level_name, review_status, answer, reviewed_at }) => ({
    level: level_name,
    status: statusOf(review_status, answer),
    reviewed_at,
  }));
}

function statusOf(reviewStatus: string, answer: string | null): string {
  if (reviewStatus === 'init') return 'not_submitted';
  if (reviewStatus !== 'completed') return 'in_review';
  return answer === 'GREEN' ? 'approved' : 'not_approved';
}
