import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { appendEvents } from '@causeway/service/events/event.ts';
import { eventRoutes } from '@causeway/service/events/routes.ts';
import { startSequencer } from '@causeway/service/events/sequencer.ts';
import { newId } from '@causeway/service/http/ids.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { issueUserTokens } from '@causeway/service/oauth/issue.ts';
import { benchContext } from './context.ts';

/**
 * This process serves event streams for many users. The first argument is the number of users. A request to
 * `appendUrl/N` appends N events, cycling through the users.
 */
const users: string[] = [];
const tokens: string[] = [];
const { ctx, clientId } = await benchContext();
for (let n = 0; n < Number(process.argv[2]); n++) {
  const userId = newId(ctx.clock, ctx.random);
  await ctx.db
    .insertInto('users')
    .values({ id: userId, email: `${userId}@user.test`, kind: 'person', password_hash: null })
    .execute();
  const scopes = ['events:read', 'wallets:read'];
  tokens.push((await issueUserTokens(ctx, { clientId, userId, scopes })).access_token);
  users.push(userId);
}
const { partner_id: partnerId } = await ctx.db
  .selectFrom('oauth_clients')
  .select('partner_id')
  .where('client_id', '=', clientId)
  .executeTakeFirstOrThrow();
const app = await buildServer(ctx, eventRoutes);
const url = await app.listen({ host: '127.0.0.1', port: 0 });
startSequencer(ctx);
let appended = 0;
const control = createServer(async (request, response) => {
  const count = Number(request.url?.slice(1));
  for (let n = 0; n < count; n++) {
    const userId = users[appended++ % users.length] ?? '';
    const data = { object: 'wallet', id: userId, appended_at: Date.now() };
    await appendEvents(ctx, ctx.db, [{ partnerId, userId, type: 'wallet.bound', data }]);
  }
  response.end();
});
await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
const appendUrl = `http://127.0.0.1:${(control.address() as AddressInfo).port}`;
process.send?.({ url, appendUrl, tokens });
