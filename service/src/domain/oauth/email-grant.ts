import type { Context } from '../../platform/context/context.ts';
import { listEmailGrants } from './grant-store.ts';

/** Returns, by user id, the email addresses of those users who let the partner see their address. */
export async function listGrantedEmails(
  { db }: Pick<Context, 'db'>,
  partnerId: string,
  userIds: readonly string[],
): Promise<Map<string, string>> {
  return new Map((await listEmailGrants(db, partnerId, userIds)).map(({ id, email }) => [id, email]));
}
