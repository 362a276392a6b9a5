import { hash } from 'node:crypto';
import type { Caller } from '../../kernel/access.ts';
import { ApiError, type ErrorCode, type ErrorDetails, invalidField } from '../../kernel/errors.ts';
import { stableJson } from '../../kernel/stable-json.ts';
import type { Context } from '../context/context.ts';
import type { Db } from '../db/pool.ts';
import * as store from './idempotency-store.ts';

type Request = { method: string; path: string; key: string; body: unknown };
/** The stored outcome of a request: a reply or an error. */
type Stored = { reply: unknown } | { code: ErrorCode; details: ErrorDetails; message: string };
type Outcome = { reply: unknown; replayed: boolean };

export function readIdempotencyKey(header: string | string[] | undefined): string {
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw invalidField('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
}

/**
 * Runs `handle` for the first request with a key. Later requests with that key get the stored reply, or 409 while
 * `handle` is still running. A user on hold gets an error instead, whether the key is new or not.
 *
 * `ctx.commitReply` stores the reply in the same transaction as the request's changes. If the node crashes, either the
 * reply and the changes are stored and a retry gets the reply, or nothing is stored and a retry runs `handle` again.
 */
export async function runOnce(
  ctx: Context,
  caller: Caller,
  request: Request,
  handle: (ctx: Context) => Promise<unknown>,
): Promise<Outcome> {
  const scope = JSON.stringify([caller.clientId, caller.userId, request.method, request.path, request.key]);
  const claim: store.Claim = { id: hash('sha256', scope, 'buffer'), node: ctx.node };
  const requestTags = ctx.sealing.tags('idempotency', stableJson(request.body));
  const stored = await claimKey(ctx, caller, claim, requestTags);
  if (stored !== null) return { reply: replay(stored), replayed: true };

  let saved = false;
  const commitReply: Context['commitReply'] = async (work) => {
    const result = await ctx.db.transaction().execute(async (tx) => {
      const reply = await work(tx);
      await storeOutcome(ctx, tx, claim, { reply });
      return reply;
    });
    saved = true;
    return result;
  };
  try {
    const reply = await handle({ ...ctx, commitReply });
    if (!saved) await storeOutcome(ctx, ctx.db, claim, { reply });
    return { reply, replayed: false };
  } catch (error) {
    if (!saved) await keepOrRelease(ctx, claim, error);
    throw error;
  }
}

/**
 * Claims the key for this request. Returns null if the request now owns the key, otherwise the stored outcome of the
 * first request. Throws `account_restricted` if the user is on hold, `idempotency_key_reused` if the first request had
 * a different body, and `idempotency_in_progress` if the first request has no outcome yet.
 *
 * `requestTags` are keyed hashes of the body, one for each configured secret. The hash stored for the first request may
 * have been made with any of these secrets. If the stored hash equals one of `requestTags`, both requests have the same
 * body.
 */
async function claimKey(
  ctx: Context,
  { userId }: Caller,
  claim: store.Claim,
  requestTags: readonly Buffer[],
): Promise<Stored | null> {
  if (await store.insertClaim(ctx.db, claim, requestTags, userId)) return null;
  if (userId !== null) await ctx.assertMayWrite(userId);
  const row = await store.findKey(ctx.db, claim.id);
  const { request_tag } = row ?? {};
  if (request_tag !== undefined && !requestTags.some((tag) => tag.equals(request_tag)))
    throw new ApiError('idempotency_key_reused');
  if (!row?.outcome) throw new ApiError('idempotency_in_progress', {}, { headers: { 'retry-after': '1' } });
  return JSON.parse(ctx.sealing.open('idempotency', row.outcome, claim.id.toString('hex')).toString());
}

/**
 * Stores the outcome, encrypted, because a reply can contain a token. If this node no longer owns the idempotency key,
 * throws `idempotency_in_progress`, which rolls the transaction back.
 */
async function storeOutcome(ctx: Context, db: Db, claim: store.Claim, outcome: Stored): Promise<void> {
  const plain = Buffer.from(JSON.stringify(outcome));
  const sealed = ctx.sealing.seal('idempotency', plain, claim.id.toString('hex'));
  if (!(await store.saveOutcome(db, claim, sealed))) throw new ApiError('idempotency_in_progress');
}

/**
 * Stores the error as the outcome, so that retries get the same error. After a server error or `rate_limited`, releases
 * the key instead, so that a retry runs `handle` again.
 */
async function keepOrRelease(ctx: Context, claim: store.Claim, error: unknown): Promise<void> {
  if (error instanceof ApiError && error.status < 500 && error.code !== 'rate_limited')
    await storeOutcome(ctx, ctx.db, claim, {
      code: error.code,
      details: error.details,
      message: error.message,
    });
  else await store.deleteClaim(ctx.db, claim);
}

function replay(stored: Stored): unknown {
  if ('code' in stored)
    throw new ApiError(stored.code, stored.details, {
      message: stored.message,
      headers: { 'idempotent-replayed': 'true' },
    });
  return stored.reply;
}
