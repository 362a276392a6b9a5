import type { Level } from '../../kernel/model/levels.ts';
import type { PiiFacts, UserKind } from '../../kernel/model/personal-data.ts';
import type { AcknowledgementDetails } from '../../kernel/model/requirement.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { FormType, SubmissionStatus } from '../../platform/providers/documents.ts';
import type { ReviewStatus } from '../../platform/providers/identity.ts';
import { openFacts } from '../pii/sealed-data.ts';
import { type FactsRow, listNextFacts, readFactsRow, readFactsRowsIn } from './store.ts';

export type UserFacts = {
  kind: UserKind;
  /** Whether the applicant (the user's record at the identity provider) is active. The provider can deactivate it. */
  isActive: boolean;
  /** Whether the service is about to read the applicant again from the identity provider. */
  isBeingRead: boolean;
  reviews: Partial<Record<Level, ReviewFacts>>;
  pii: (PiiFacts & { version: number; isStale: boolean }) | null;
  documents: Partial<Record<string, DocumentFacts>>;
  wallets: Partial<Record<string, readonly string[]>>;
  acknowledgements: Partial<Record<string, readonly AcknowledgedText[]>>;
};

/** Times are in epoch milliseconds. */
export type ReviewFacts = {
  status: ReviewStatus;
  answer: 'GREEN' | 'RED' | null;
  rejectType: 'RETRY' | 'FINAL' | null;
  reviewedAt: number | null;
  /** A hash that identifies the approved person: `''` while unknown, null if there is no approval. */
  person: string | null;
};

export type DocumentFacts = {
  status: SubmissionStatus;
  formType: FormType;
  expiresAt: number;
  completedAt: number | null;
  piiVersion: number;
};

export type AcknowledgedText = Pick<AcknowledgementDetails, 'document' | 'version' | 'sha256'>;

type FactsContext = Pick<Context, 'openPiiFacts' | 'config'>;

/** Reads all facts about a user in one round trip, without calling a provider. Returns null for an unknown user. */
export async function readFacts(
  ctx: FactsContext,
  db: Db,
  userId: string,
  optionIds: readonly string[],
): Promise<UserFacts | null> {
  const row = await readFactsRow(db, userId, optionIds);
  return row === undefined ? null : toFacts(ctx, userId, row);
}

/** Like `readFacts`, but for many users. The result is keyed by user id and omits unknown users. */
export async function readFactsOfAllIn(
  ctx: FactsContext,
  tx: Db,
  userIds: readonly string[],
  optionIds: readonly string[],
): Promise<Map<string, UserFacts>> {
  const rows = await readFactsRowsIn(tx, [...new Set(userIds)], optionIds);
  return new Map([...rows].map(([userId, row]) => [userId, toFacts(ctx, userId, row)]));
}

export function toFacts(ctx: FactsContext, userId: string, row: FactsRow): UserFacts {
  const reviews: UserFacts['reviews'] = {};
  for (const [level, status, answer, rejectType, reviewedAt, person] of row.reviews ?? [])
    reviews[level] = { status, answer, rejectType, reviewedAt, person };
  const documents: UserFacts['documents'] = {};
  for (const [type, status, formType, expiresAt, completedAt, piiVersion] of row.documents ?? [])
    documents[type] = { status, formType, expiresAt, completedAt, piiVersion };
  const wallets: Record<string, string[]> = {};
  for (const [optionId, protocol] of row.wallets ?? []) {
    const bound = wallets[optionId];
    if (bound === undefined) wallets[optionId] = [protocol];
    else bound.push(protocol);
  }
  const acknowledgements: Record<string, AcknowledgedText[]> = {};
  for (const [optionId, document, version, sha256] of row.acknowledgements ?? []) {
    acknowledgements[optionId] ??= [];
    acknowledgements[optionId].push({ document, version, sha256 });
  }
  const pii =
    row.sealed_facts === null
      ? null
      : {
          ...withPolicy(ctx, ctx.openPiiFacts(userId, row.sealed_facts)),
          version: row.version ?? 0,
          isStale: row.is_stale ?? false,
        };
  const { kind, is_active: isActive, is_being_read: isBeingRead } = row;
  return { kind, isActive, isBeingRead, reviews, documents, wallets, acknowledgements, pii };
}

/** Removes former places of residence from the facts, unless operators must review country changes. */
function withPolicy({ config }: Pick<Context, 'config'>, facts: PiiFacts): PiiFacts {
  return config.countryChangePolicy === 'review' ? facts : { ...facts, formerPlaces: [] };
}

export type FactsOfUser = { isHeld: boolean; facts: UserFacts };

type Parts = Pick<Context, 'pool' | 'sealing' | 'config'>;

const BATCH_SIZE = 5_000;
const BEFORE_ALL_IDS = '00000000-0000-0000-0000-000000000000';

/** Reads the facts of every user in batches. The next batch is read while the caller works on the current one. */
export async function* readAllFacts(
  { pool, sealing, config }: Parts,
  optionIds: readonly string[],
): AsyncGenerator<FactsOfUser[]> {
  const parts = { config, openPiiFacts: (id: string, sealed: Buffer) => openFacts(sealing, id, sealed) };
  const read = (after: string) => listNextFacts(pool, after, optionIds, BATCH_SIZE);
  let next = read(BEFORE_ALL_IDS);
  for (;;) {
    const rows = await next;
    const last = rows.at(-1);
    if (last === undefined) return;
    next = read(last.id);
    // The next iteration awaits `next`. If `next` rejects before that, the rejection must not count as unhandled.
    next.catch(() => undefined);
    yield rows.map((row) => ({ isHeld: row.is_held, facts: toFacts(parts, row.id, row) }));
  }
}
