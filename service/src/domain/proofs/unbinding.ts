import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvents } from '../../platform/events/event.ts';
import { composeMail } from '../../platform/mail/message.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { findUser, localeOf } from '../users/user.ts';
import { bindingEvent } from './binding-event.ts';
import { deleteBindingsOf } from './proof-store.ts';

/**
 * Deletes these users' bindings of a wallet, because another user has proven ownership of it. Each user who loses a
 * binding gets one mail. The partner gets one event per binding.
 */
export async function endBindings(
  ctx: Context,
  tx: Db,
  partnerId: string,
  address: string,
  userIds: readonly string[],
): Promise<void> {
  const ended = await deleteBindingsOf(tx, partnerId, address, userIds);
  await appendEvents(
    ctx,
    tx,
    ended.map((binding) => bindingEvent('wallet.unbound', binding.offer_id, partnerId, binding)),
  );
  for (const userId of new Set(ended.map(({ user_id }) => user_id))) {
    const user = await findUser(tx, userId);
    const values = { url: `${ctx.baseUrl}/account`, wallet: `${address.slice(0, 8)}…${address.slice(-6)}` };
    if (user !== undefined)
      await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'wallet_disconnected', values));
  }
}
