import { CompiledQuery, type Dialect } from 'kysely';
import type { Statement } from './query.ts';
import { quoteLiteral } from './quote.ts';
import { wrapDriver } from './wrap-driver.ts';

/** The request and the actor that caused a transaction, for the audit log. */
export type TransactionTags = { requestId: string; actor: { object: string; id: string } | null };

/**
 * The statement that Kysely sends to begin a transaction. `statements.ts` intercepts this statement. In a tagged
 * transaction, the parameters of the statement are the tags.
 */
export const BEGIN = 'begin';

const BEGINNING: Statement = { name: 'begin', text: 'begin', values: [] };
const SETTINGS = ['causeway.request_id', 'causeway.actor'] as const;

/** Returns a dialect whose transactions carry the tags as PostgreSQL settings. Database triggers read these settings. */
export function tagTransactions(dialect: Dialect, { requestId, actor }: TransactionTags): Dialect {
  const begin = CompiledQuery.raw(BEGIN, [requestId, ...(actor === null ? [] : [JSON.stringify(actor)])]);
  return wrapDriver(dialect, () => ({
    beginTransaction: async (connection) => {
      await connection.executeQuery(begin);
    },
    // Leaves the pool open, because it belongs to the untagged database.
    destroy: async () => undefined,
  }));
}

/**
 * Returns the statements that begin a transaction with these tags. If these statements cannot be sent together with the
 * first statement of the transaction, they are joined into one text, so that the tags cost no extra round trip.
 */
export function beginningOf(tags: readonly string[], isSentTogether: boolean): Statement[] {
  if (!isSentTogether) {
    const settings = tags.map((tag, index) => `set local ${SETTINGS[index]} = ${quoteLiteral(tag)}`);
    return [{ text: [BEGIN, ...settings].join('; ') }];
  }
  if (tags.length === 0) return [BEGINNING];
  const calls = tags.map((_, index) => `set_config('${SETTINGS[index]}', $${index + 1}, true)`);
  return [BEGINNING, { name: `tags_${tags.length}`, text: `select ${calls.join(', ')}`, values: [...tags] }];
}
