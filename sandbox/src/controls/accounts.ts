import type { Context } from '@causeway/service/context.ts';
import type { MailServer } from '../simulators/mail-server.ts';
import type { ControlGroup } from '../start.ts';
import { mailRoute, type OthersMails } from './mail.ts';
import { type OnUser, seedUsers, userRoute } from './users.ts';

/** Users, and the mails they get. */
export async function accountControls(
  ctx: Context,
  mailServer: MailServer,
  onUser: OnUser,
  othersMails: OthersMails,
): Promise<ControlGroup> {
  const users = await seedUsers(ctx);
  const [first] = users;
  return {
    overview: () => ({ users }),
    routes: [mailRoute(mailServer, othersMails), userRoute(onUser)],
    readyLines: [`  Sign in    ${ctx.baseUrl}/sign-in  (${first?.email} / ${first?.password})`],
  };
}
