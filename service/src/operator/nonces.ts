import { newId } from '../http/ids.ts';
import { Blocked } from './blocked.ts';
import { proposeFees } from './fees.ts';
import { holdLease, type Lease } from './lease.ts';
import { broadcast, emptyCall, type Operator, signCall } from './sender.ts';
import { findByNonce, insertTransaction, markDisplaced, markOpen, type OpenTransaction } from './store.ts';

/** What of `Following` and `Pace` the nonces need. */
type Suspicion = { suspectSince: number | null };
type Patience = { suspect: number };

/**
 * The chain's count of the key's transactions must lie between our first unmined nonce and our next one. Above: somebody
 * else uses the key, and sending on could commit twice what another database has committed, so everything waits for a
 * person. Below, at a nonce that we never used: a foreign transaction was reorganised away and nothing after it can be
 * mined, so its place is filled. That transaction may come back and be mined in place of the filling, which is as good.
 */
export async function checkNonces(
  operator: Operator,
  lease: Lease,
  suspicion: Suspicion,
  patience: Patience,
  count: bigint,
  unmined: readonly OpenTransaction[],
): Promise<void> {
  if (lease.nextNonce === null) return;
  if (count > lease.nextNonce) await refuseForeign(operator, lease, count);
  const displaced = unmined.filter(({ nonce }) => nonce < count);
  const there = count < lease.nextNonce ? await findByNonce(operator.db, lease, count) : undefined;
  const isGap = there === null || there?.state === 'displaced';
  if (displaced.length === 0 && !isGap) {
    suspicion.suspectSince = null;
    return;
  }
  // Two nodes behind one address may be a moment apart.
  suspicion.suspectSince ??= performance.now();
  if (performance.now() - suspicion.suspectSince < patience.suspect) return;
  const isOurs = displaced.some(({ kind }) => kind !== 'fill') || (there != null && there.kind !== 'fill');
  if (isOurs) await refuseForeign(operator, lease, count);
  suspicion.suspectSince = null;
  for (const { id } of displaced) await underLease(operator, lease, (tx) => markDisplaced(tx, id));
  if (!isGap) return;
  if (there === null) await fillNonce(operator, lease, count);
  else if (there !== undefined)
    await underLease(operator, lease, (tx) => markOpen(tx, there.id, 'displaced'));
}

type Work = Parameters<ReturnType<Operator['db']['transaction']>['execute']>[0];

async function underLease({ db }: Operator, lease: Lease, work: Work): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await holdLease(tx, lease);
    await work(tx);
  });
}

async function refuseForeign(operator: Operator, lease: Lease, count: bigint): Promise<never> {
  // Whoever was replaced meanwhile knows an old nonce, and raises no alarm.
  await underLease(operator, lease, async () => undefined);
  const { address, chain } = lease;
  const message = `the key ${address} has sent ${count} transactions on ${chain}, some of which are not ours`;
  throw new Blocked('foreign_nonce', message);
}

async function fillNonce(operator: Operator, lease: Lease, nonce: bigint): Promise<void> {
  const { db, chain, clock, random, signer, log } = operator;
  log.warn({ chain: chain.name, nonce: String(nonce) }, 'an empty transaction fills a gap in the nonces');
  const call = { kind: 'fill' as const, ...emptyCall(signer) };
  const signed = await signCall(operator, call, nonce, await proposeFees(chain, operator.maxFee));
  const id = newId(clock, random);
  await db.transaction().execute((tx) => insertTransaction(tx, lease, { id, nonce, ...call }, signed));
  await broadcast(operator, signed.raw);
}
