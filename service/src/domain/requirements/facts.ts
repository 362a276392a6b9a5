import type { PiiFacts } from '../../kernel/model/personal-data.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { AcknowledgedText, UserFacts } from './status.ts';
import { type FactsRow, readFactsRow, readFactsRowsIn } from './store.ts';

export { type FactsRow, factsText, lockApplicants } from './store.ts';

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
