import { timingSafeEqual } from 'node:crypto';
import { formerTags, sealTagKeys } from '../../kernel/former-tag-keys.ts';
import { isId } from '../../kernel/ids.ts';
import type { Context } from '../../platform/context/context.ts';
import { parseLocale } from '../../platform/mail/catalogue.ts';
import { setLocale } from '../users/store.ts';
import { TOPICS, type Topic } from './notice.ts';
import {
  insertOptOut,
  listOptOuts,
  listUnsubscribeKeys,
  putUnsubscribeKey,
  replaceOptOuts,
} from './store.ts';

export async function listTopics({ db }: Pick<Context, 'db'>, userId: string): Promise<Topic[]> {
  const optOuts = await listOptOuts(db, userId);
  return TOPICS.filter((topic) => !optOuts.includes(topic));
}

/** Saves the topics that the user gets mails about, and the language of the mails. Ignores an unknown language. */
export async function saveMailPreferences(
  { db }: Pick<Context, 'db'>,
  userId: string,
  topics: readonly Topic[],
  locale: string | undefined,
): Promise<void> {
  const known = parseLocale(locale);
  await db.transaction().execute(async (tx) => {
    await replaceOptOuts(
      tx,
      userId,
      TOPICS.filter((topic) => !topics.includes(topic)),
    );
    if (known !== null) await setLocale(tx, userId, known);
  });
}

const PURPOSE = 'unsubscribe';

export type Subscription = { userId: string; topic: Topic };

/** Returns a link that turns off the topic without a sign-in. The link can do nothing else, so it never expires. */
export function unsubscribeUrl(
  { sealing, baseUrl }: Pick<Context, 'sealing' | 'baseUrl'>,
  userId: string,
  topic: Topic,
): string {
  const tag = sealing.tag(PURPOSE, `${userId} ${topic}`).toString('base64url');
  return `${baseUrl}/unsubscribe?token=${userId}.${topic}.${tag}`;
}

export async function readUnsubscribeToken(
  { db, sealing }: Pick<Context, 'db' | 'sealing'>,
  token: string,
): Promise<Subscription | null> {
  const [userId = '', name = '', text = ''] = token.split('.');
  const topic = TOPICS.find((each) => each === name);
  if (!isId(userId) || topic === undefined) return null;
  const data = `${userId} ${topic}`;
  const tag = Buffer.from(text, 'base64url');
  const isOurs = sealing.verifyTag(PURPOSE, data, tag) || (await isFormerTag({ db, sealing }, data, tag));
  return isOurs ? { userId, topic } : null;
}

/** The secret of `tag` may no longer be configured. */
async function isFormerTag(
  { db, sealing }: Pick<Context, 'db' | 'sealing'>,
  data: string,
  tag: Buffer,
): Promise<boolean> {
  const former = formerTags(sealing, PURPOSE, await listUnsubscribeKeys(db), data);
  return former.some((expected) => expected.length === tag.length && timingSafeEqual(expected, tag));
}

/** Keeps unsubscribe links working after the older secrets are removed. */
export async function keepUnsubscribeKeys({ db, sealing }: Pick<Context, 'db' | 'sealing'>): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const { fingerprint, sealed } of sealTagKeys(sealing, PURPOSE, await listUnsubscribeKeys(tx)))
      await putUnsubscribeKey(tx, fingerprint, sealed);
  });
}

export async function unsubscribe(
  { db }: Pick<Context, 'db'>,
  { userId, topic }: Subscription,
): Promise<void> {
  await insertOptOut(db, userId, topic);
}
