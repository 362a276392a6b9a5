import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import {
  insertAccreditationReminders,
  insertFormReminders,
  insertLinkReminders,
  type ReminderCursor,
} from '../notices/store.ts';
import { validUntil } from './validity.ts';

const INTERVAL_MS = 30_000;
const DAY_MS = 86_400_000;
const EXPIRY_NOTICE_MS = 14 * DAY_MS;
/**
 * The user is reminded this long before a signing link expires. This must be short, because operators can configure
 * links that are valid for only a few days.
 */
const LINK_NOTICE_MS = 2 * DAY_MS;

/** Reminds users of signing links, forms and accreditations that expire soon. Any number of nodes may run this job. */
export function startReminders(ctx: Context): () => Promise<void> {
  return startInterval(ctx, INTERVAL_MS, 'writing reminders failed', () => writeReminders(ctx));
}

export async function writeReminders({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  const at = (time: number) => toTimestamp(Math.floor(time) * 1000);
  while (await insertAccreditationReminders(db, at(now), at(now + EXPIRY_NOTICE_MS)));
  await inBatches((after) => insertLinkReminders(db, at(now), at(now + LINK_NOTICE_MS), after));
  // A form expires at the end of the third calendar year after the year of its signature, so all forms signed in the
  // same year expire together.
  const signedInYear = new Date(now).getUTCFullYear() - 3;
  const end = validUntil(Date.UTC(signedInYear, 0, 1));
  if (end - now <= EXPIRY_NOTICE_MS)
    await inBatches((after) => insertFormReminders(db, signedInYear, end - DAY_MS, after));
}

async function inBatches(
  write: (after: ReminderCursor | null) => Promise<ReminderCursor | null>,
): Promise<void> {
  for (let after = await write(null); after !== null; ) after = await write(after);
}
