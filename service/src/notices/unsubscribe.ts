import type { Context } from '../context.ts';
import { isId } from '../http/ids.ts';
import { TOPICS, type Topic } from './notice.ts';
import { insertOptOut } from './store.ts';

const PURPOSE = 'unsubscribe';

export type Subscription = { userId: string; topic: Topic };

/** Returns a link that turns off the topic without signing in. The link can do nothing else, so it does not expire. */
export function unsubscribeUrl(
  { sealing, baseUrl }: Pick<Context, 'sealing' | 'baseUrl'>,
  userId: string,
  topic: Topic,
): string {
  const tag = sealing.tag(PURPOSE, `${userId} ${topic}`).toString('base64url');
  return `${baseUrl}/unsubscribe?token=${userId}.${topic}.${tag}`;
}

/** Returns the user and topic of an unsubscribe token, or null if we did not issue it. */
export function readUnsubscribeToken(
  { sealing }: Pick<Context, 'sealing'>,
  token: string,
): Subscription | null {
  const [userId = '', name = '', tag = ''] = token.split('.');
  const topic = TOPICS.find((each) => each === name);
  if (!isId(userId) || topic === undefined) return null;
  const isOurs = sealing.verifyTag(PURPOSE, `${userId} ${topic}`, Buffer.from(tag, 'base64url'));
  return isOurs ? { userId, topic } : null;
}

export async function unsubscribe(
  { db }: Pick<Context, 'db'>,
  { userId, topic }: Subscription,
): Promise<void> {
  await insertOptOut(db, userId, topic);
}
