import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { NODE_LOCK_CLASS } from '../db/node.ts';
import { ApiError, ERRORS, type ErrorCode, type ErrorDetails, invalidField } from '../errors.ts';
import type { Caller } from './access.ts';

/**
 * Guarantees: of all requests with one key, one runs; its reply is stored in the transaction of its effect
 * (`ctx.commitReply`), so a crash after the effect replays the right reply and a crash before it leaves
 * nothing; a claim whose node died is taken over at once, one whose node hangs when its lease is over.
 */
const LEASE = '60 seconds';
const LIFE = '24 hours';

type Request = { method: string; path: string; key: string; body: unknown };
type Claim = { id: Buffer; node: number };
type Stored = { reply: unknown } | { code: ErrorCode; details: ErrorDetails };
type Outcome = { reply: unknown; replayed: boolean };

export function readIdempotencyKey(header: string | string[] | undefined): string {
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw invalidField('Idempotency-Key', 'must be 1 to 255 visible characters');
}

/** Runs `handle` once for all requests with this key; the others get its reply or learn that it runs. */
export async function runOnce(
  ctx: Context,
  caller: Caller,
  request: Request,
  handle: (ctx: Context) => Promise<unknown>,
): Promise<Outcome> {
  const scope = JSON.stringify([caller.clientId, caller.userId, request.method, request.path, request.key]);
  const claim: Claim = { id: createHash('sha256').update(scope).digest(), node: ctx.node };
  const stored = await claimKey(ctx, claim, ctx.sealing.tag('idempotency', stableJson(request.body)));
  if (stored !== null) return { reply: replay(stored), replayed: true };

  let saved = false;
  const commitReply: Context['commitReply'] = async (work) => {
    const result = await ctx.db.transaction().execute(async (tx) => {
      const reply = await work(tx);
      await saveOutcome(ctx, tx, claim, { reply });
      return reply;
    });
    saved = true;
    return result;
  };
  try {
    const reply = await handle({ ...ctx, commitReply });
    if (!saved) await saveOutcome(ctx, ctx.db, claim, { reply });
    return { reply, replayed: false };
  } catch (error) {
    if (!saved) await keepOrRelease(ctx, claim, error);
    throw error;
  }
}

/** Null when this request owns the key now, else what the first one stored. */
async function claimKey(ctx: Context, { id, node }: Claim, requestTag: Buffer): Promise<Stored | null> {
  const claimed = await sql`
    insert into idempotency_keys as k (id, request_tag, node, lease_until)
    values (${id}, ${requestTag}, ${node}, now() + ${LEASE}::interval)
    on conflict (id) do update set request_tag = excluded.request_tag, node = excluded.node,
      lease_until = excluded.lease_until, outcome = null, inserted_at = now()
    where k.inserted_at < now() - ${LIFE}::interval
      or (k.outcome is null and k.request_tag = excluded.request_tag and (k.lease_until < now() or not exists (
        select from pg_locks where locktype = 'advisory' and classid = ${NODE_LOCK_CLASS}
          and objid = k.node::oid and granted and database = (select oid from pg_database where datname = current_database()))))
    returning id`.execute(ctx.db);
  if (claimed.rows.length > 0) return null;

  const row = await ctx.db
    .selectFrom('idempotency_keys')
    .select(['request_tag', 'outcome'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row !== undefined && !row.request_tag.equals(requestTag)) throw new ApiError('idempotency_key_reused');
  if (!row?.outcome) throw new ApiError('idempotency_in_progress', {}, { headers: { 'retry-after': '1' } });
  return JSON.parse(ctx.sealing.open('idempotency', row.outcome, id.toString('hex')).toString());
}

/** A reply can hold a token, so it is sealed. Losing the claim to another node undoes the transaction. */
async function saveOutcome(
  ctx: Context,
  db: Context['db'],
  { id, node }: Claim,
  outcome: Stored,
): Promise<void> {
  const sealed = ctx.sealing.seal('idempotency', Buffer.from(JSON.stringify(outcome)), id.toString('hex'));
  const { numUpdatedRows } = await db
    .updateTable('idempotency_keys')
    .set({ outcome: sealed })
    .where('id', '=', id)
    .where('node', '=', node)
    .where('outcome', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new ApiError('idempotency_in_progress');
}

/** A refusal is an answer like any other; after a fault of ours or of a provider the caller may try again. */
async function keepOrRelease(ctx: Context, claim: Claim, error: unknown): Promise<void> {
  if (error instanceof ApiError && ERRORS[error.code][0] < 500 && error.code !== 'rate_limited') {
    await saveOutcome(ctx, ctx.db, claim, { code: error.code, details: error.details });
    return;
  }
  await ctx.db
    .deleteFrom('idempotency_keys')
    .where('id', '=', claim.id)
    .where('node', '=', claim.node)
    .where('outcome', 'is', null)
    .execute();
}

function replay(stored: Stored): unknown {
  if ('code' in stored)
    throw new ApiError(stored.code, stored.details, { headers: { 'idempotent-replayed': 'true' } });
  return stored.reply;
}

/** JSON with sorted members: the same body whatever order or spacing the client wrote it in. */
function stableJson(value: unknown): string {
  return (
    JSON.stringify(value, (_key, item) =>
      typeof item === 'object' && item !== null && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
        : item,
    ) ?? ''
  );
}
