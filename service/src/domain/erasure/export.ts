import { timestampOf } from '../../kernel/wire.ts';
import { recordDecision } from '../../platform/audit/entry.ts';
import type { Context } from '../../platform/context/context.ts';
import { exportUser as exportAccount } from '../accounts/export.ts';
import { exportUser as exportAcknowledgements } from '../acknowledgements/export.ts';
import { exportUser as exportDocuments } from '../documents/export.ts';
import { exportUser as exportIdentity } from '../identity/export.ts';
import { listTopics } from '../notices/preferences.ts';
import { exportUser as exportParticipations } from '../participations/export.ts';
import { readOwnData } from '../pii/pii.ts';
import { exportUser as exportOrders } from '../tokenized/export.ts';
import type { User } from '../users/user.ts';
import { exportUser as exportWallets } from '../wallets/export.ts';

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
    identity_checks: await exportIdentity(db, user.id),
    tax_forms: await exportDocuments(db, user.id),
    acknowledgements: await exportAcknowledgements(db, user.id),
    wallets: await exportWallets(db, user.id),
    participations: await exportParticipations(db, user.id),
    tokenized_swap_orders: await exportOrders(db, user.id),
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
