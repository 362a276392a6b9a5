import type { Db } from '../../platform/db/pool.ts';
import type { MessageName } from '../../platform/mail/catalogue.ts';
import { insertNotice } from './store.ts';

/** What a user can turn off. Mails about security and money that has moved have no topic: they are always sent. */
export const TOPICS = ['verification', 'acceptance', 'forms', 'reminders'] as const;
export type Topic = (typeof TOPICS)[number];

/** The kinds of notices that become mails, with their topics. */
export const NOTICE_TOPICS = {
  signed_in: null,
  participation_completed: null,
  participation_failed: null,
  participation_remitted: null,
  participation_pending: 'acceptance',
  review_approved: 'verification',
  review_action_needed: 'verification',
  review_rejected: 'verification',
  form_to_sign: 'forms',
  form_link_expiring: 'reminders',
  form_expiring: 'reminders',
  accreditation_expiring: 'reminders',
} as const satisfies Partial<Record<MessageName, Topic | null>>;
export type NoticeKind = keyof typeof NOTICE_TOPICS;

/** Writes at most one notice per user, kind and `occurrence`. */
export async function writeNotice(
  tx: Db,
  userId: string,
  kind: NoticeKind,
  occurrence: string,
  data: Record<string, unknown>,
): Promise<void> {
  await insertNotice(tx, { user_id: userId, kind, occurrence, data: JSON.stringify(data) });
}
