import type { Context } from '../../platform/context/context.ts';
import { parseLocale } from '../../platform/mail/locale.ts';
import { setUserLocale } from '../users/user.ts';
import { TOPICS, type Topic } from './notice.ts';
import { listOptOuts, replaceOptOuts } from './store.ts';

/** Returns the topics that the user gets mails about. */
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
    if (known !== null) await setUserLocale(tx, userId, known);
  });
}
