import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import { newId } from '../http/ids.ts';
import { toTimestamp } from '../http/wire.ts';
import type { Signer } from '../operator/signer.ts';
import { upstreamFailureOf } from '../outbound/failure.ts';
import { issueCalldata } from './calldata.ts';
import { formatDecimal } from './decimal.ts';
import { assertEligible } from './eligibility.ts';
import { type Intent, readIntent } from './intent.ts';
import { assertAffordable, assertTradable, type Cost, readCost, type Terms } from './order-checks.ts';
import { type Attestation, VenueFault, VenueRefusal } from './provider.ts';
import { orRefuse } from './refusal.ts';
import { KEY_LIFE } from './retention.ts';
import type { NewTransaction, SwapTransaction } from './schema.ts';
import {
  findEarlier,
  findHolding,
  insertOrder,
  moveOrder,
  releaseExpired,
  type StoredOrder,
  saveAttestation,
} from './store.ts';
import { assertOperator, readDomain } from './swap-domain.ts';
import { releaseIfExecuted } from './watch.ts';

/** No attestation is known to live longer: an unknown one holds its place for so many seconds. */
const LONGEST_LIFE = 120;

/**
 * The commit step. Everything that can be refused is refused before the venue is asked; the order is written before
 * that too, so that whatever crashes when, one request never spends two attestations.
 */
export async function encodeTransaction(
  ctx: Context,
  caller: UserCaller,
  input: NewTransaction,
  idempotencyKey: string | undefined,
): Promise<SwapTransaction> {
  const intent = await readIntent(ctx, caller, input, idempotencyKey);
  const signer = operatorOf(ctx);
  const { wallet, asset, claim, contract } = intent;
  const place = { chain: contract.chain, wallet, asset };
  const earlier = await findEarlier(ctx.db, place, claim, iso(ctx.clock.now() - KEY_LIFE));
  if (earlier.claimed !== undefined) return resume(ctx, intent, signer, earlier.claimed);
  await assertEligible(ctx, caller, intent.offer, contract, wallet);
  if (earlier.holding !== undefined) await makeRoom(ctx, earlier.holding);
  const cost = await checkTerms(ctx, intent, signer);
  const id = await writeOrder(ctx, intent, cost);
  const attestation = await attest(ctx, intent, cost, id);
  return issueCalldata(ctx, intent, signer, { id, attestation, cost });
}

/** Asked all at once, because they travel together, and refused in the order of the checks. */
async function checkTerms(ctx: Context, intent: Intent, signer: Signer): Promise<Terms> {
  const { chain, contract } = intent;
  const [tradable, cost, ...ours] = await Promise.allSettled([
    assertTradable(ctx, intent),
    assertAffordable(ctx, intent),
    readDomain(chain, contract),
    assertOperator(chain, contract, signer),
  ]);
  if (tradable.status === 'rejected') throw tradable.reason;
  if (cost.status === 'rejected') throw cost.reason;
  for (const check of ours) if (check.status === 'rejected') throw check.reason;
  return cost.value;
}

function operatorOf({ operator }: Context): Signer {
  if (operator !== null) return operator;
  throw new ApiError(
    'upstream_unavailable',
    { upstream: 'signer' },
    { cause: new Error('OPERATOR_KEY is not set'), headers: { 'retry-after': '3600' } },
  );
}

/** An earlier run of the same request got so far; what it began is finished, never begun again. */
async function resume(
  ctx: Context,
  intent: Intent,
  signer: Signer,
  { id, state, attestation, expires_at }: StoredOrder,
): Promise<SwapTransaction> {
  if (state === 'attested' && attestation !== null && Date.parse(expires_at) > ctx.clock.now())
    return issueCalldata(ctx, intent, signer, { id, attestation, cost: await readCost(intent) });
  throw outstanding(
    expires_at,
    'What became of this order is not known. It is over at expires_at; confirm again, with another idempotency key.',
  );
}

/** The one that holds may have been executed a moment ago, which its watcher has not seen yet. */
async function makeRoom(ctx: Context, holding: StoredOrder): Promise<void> {
  if (Date.parse(holding.expires_at) < ctx.clock.now())
    return releaseExpired(ctx.db, holding, toTimestamp(ctx.clock.micros()));
  if (!(await releaseIfExecuted(ctx, holding))) throw outstanding(holding.expires_at);
}

function outstanding(expiresAt: string, message?: string): ApiError {
  return new ApiError(
    'order_outstanding',
    { expires_at: expiresAt },
    message === undefined ? {} : { message },
  );
}

async function writeOrder(ctx: Context, intent: Intent, { fromBlock }: Terms): Promise<string> {
  const { caller, offer, contract, symbol, wallet, token, asset, gross, claim } = intent;
  const order = {
    id: newId(ctx.clock, ctx.random),
    partner_id: caller.partnerId,
    user_id: caller.userId,
    offer_id: offer.id,
    chain: contract.chain,
    swap: contract.address,
    ...{ symbol, wallet, asset, token, claim },
    amount: gross,
    expires_at: iso(ctx.clock.now() + LONGEST_LIFE * 1000),
    from_block: fromBlock,
  };
  const now = toTimestamp(ctx.clock.micros());
  const id = await insertOrder(ctx.db, order, now);
  if (id !== undefined) return id;
  const holding = await findHolding(ctx.db, order);
  throw outstanding(holding?.expires_at ?? order.expires_at);
}

async function attest(
  ctx: Context,
  { chain, symbol }: Intent,
  { net, decimals }: Cost,
  id: string,
): Promise<Attestation> {
  const order = { symbol, side: 'buy' as const, notionalValue: formatDecimal(net, decimals) };
  const asked = ctx.venue.attest(chain.chainId, order).catch(async (error: unknown) => {
    const to = wasRefused(error)
      ? { state: 'refused' as const, holding: false }
      : { state: 'unknown' as const, holding: true };
    await moveOrder(ctx.db, id, 'asking', to, toTimestamp(ctx.clock.micros()));
    throw error;
  });
  const attestation = await orRefuse(ctx, symbol, asked, 'amount');
  const expiresAt = iso(Number(attestation.expiration) * 1000);
  await saveAttestation(ctx.db, id, attestation, expiresAt, toTimestamp(ctx.clock.micros()));
  return attestation;
}

/** Whether it is certain that nothing was attested. */
function wasRefused(error: unknown): boolean {
  if (error instanceof VenueRefusal || (error as Error).cause instanceof VenueFault) return true;
  const kind = upstreamFailureOf(error)?.kind;
  return kind === 'not_sent' || kind === 'rate_limited';
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
