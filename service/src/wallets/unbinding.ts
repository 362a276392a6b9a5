import { findUser } from '../accounts/user.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { appendEvents } from '../events/event.ts';
import { sendMail } from '../mail/outbox.ts';
import { deleteBindingsOf } from './proof-store.ts';

/** Ends the bindings of a wallet that these users lost to a later proof. Each user gets a mail, the partner the events. */
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
    ended.map(({ id, option_id, user_id }) => ({
      partnerId,
      userId: user_id,
      type: 'wallet.unbound',
      data: { object: 'option_address', id, offer_option_id: option_id },
    })),
  );
  for (const userId of new Set(ended.map(({ user_id }) => user_id))) {
    const user = await findUser(tx, userId);
    if (user !== undefined) await sendMail(ctx, tx, unboundMail(ctx, user.email, address));
  }
}

function unboundMail({ baseUrl }: Context, to: string, address: string) {
  const text = `Your wallet ${address.slice(0, 8)}…${address.slice(-6)} was disconnected from your account, because another account has proven that it owns this wallet.

If the wallet is yours, connect it again in the app. If you did not expect this, your wallet's key may be known to somebody else: move your assets to a new wallet.

Your account:
${baseUrl}/account

Causeway`;
  return { to, subject: 'A wallet was disconnected from your account', text };
}
