import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { isId } from '../http/ids.ts';
import { TOPICS, type Topic } from './notice.ts';
import { insertOptOut, listUnsubscribeKeys, putUnsubscribeKey } from './store.ts';

const PURPOSE = 'unsubscribe';
const KEY_PURPOSE = 'unsubscribe key';

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
export async function readUnsubscribeToken(
  { db, sealing }: Pick<Context, 'db' | 'sealing'>,
  token: string,
): Promise<Subscription | null> {
  const [userId = '', name = '', text = ''] = token.split('.');
  const topic = TOPICS.find((each) => each === name);
  if (!isId(userId) || topic === undefined) return null;
  const data = `${userId} ${topic}`;
  const tag = Buffer.from(text, 'base64url');
  const isOurs = sealing.verifyTag(PURPOSE, data, tag) || (await isFormerTag({ sealing }, db, data, tag));
  return isOurs ? { userId, topic } : null;
}

/** Returns whether the tag was made with a secret that has been removed since then. */
async function isFormerTag(
  parts: Pick<Context, 'sealing'>,
  db: Db,
  data: string,
  tag: Buffer,
): Promise<boolean> {
  return (await readFormerKeys(parts, db)).some(({ key }) => {
    const expected = createHmac('sha256', key).update(data).digest();
    return expected.length === tag.length && timingSafeEqual(expected, tag);
  });
}

async function readFormerKeys({ sealing }: Pick<Context, 'sealing'>, db: Db) {
  return (await listUnsubscribeKeys(db)).map(({ fingerprint, sealed }) => ({
    fingerprint,
    key: sealing.open(KEY_PURPOSE, sealed, fingerprint.toString('hex')),
  }));
}

/**
 * Stores the keys that all older secrets make links with, sealed with the newest secret, so that the links work after
 * the older secrets are removed.
 */
export async function keepUnsubscribeKeys({ db, sealing }: Pick<Context, 'db' | 'sealing'>): Promise<void> {
  const [, ...older] = sealing
    .tagKeys(PURPOSE)
    .map((key, index) => ({ key, fingerprint: sealing.fingerprints[index] ?? Buffer.alloc(0) }));
  await db.transaction().execute(async (tx) => {
    for (const { key, fingerprint } of [...older, ...(await readFormerKeys({ sealing }, tx))])
      await putUnsubscribeKey(tx, fingerprint, sealing.seal(KEY_PURPOSE, key, fingerprint.toString('hex')));
  });
}

export async function unsubscribe(
  { db }: Pick<Context, 'db'>,
  { userId, topic }: Subscription,
): Promise<void> {
  await insertOptOut(db, userId, topic);
}
