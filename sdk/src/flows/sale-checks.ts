import { CausewayError, isCausewayError } from '../error.ts';
import { describeStatus } from '../requirements.ts';
import { sleep } from '../sleep.ts';
import type { OfferDetails, Requirement } from '../wire.ts';
import { Stop } from './flow.ts';
import { compareToDecimal } from './money.ts';
import type { Place } from './offer-contract.ts';
import type { Session } from './session.ts';

type Hex = `0x${string}`;

/** What the service would refuse afterwards is refused before anyone pays for an approval. */
export async function assertEligible(
  session: Session,
  offer: OfferDetails,
  optionId: string,
  { token }: Place,
  amount: bigint,
): Promise<void> {
  const option = offer.options.find(({ id }) => id === optionId);
  if (option === undefined) throw new Stop('invalid_input', 'The offer has no such option.');
  const least = option.minimum_purchase_usd;
  if (least !== null && compareToDecimal(amount, token.decimals, least) < 0)
    throw new Stop('invalid_input', `The minimum purchase is ${least} USD.`, {
      details: { minimum_purchase_usd: least },
    });
  await orUnscoped(assertRequirements(session, offer.id, optionId));
}

async function assertRequirements(session: Session, offerId: string, optionId: string): Promise<void> {
  const { causeway, signal } = session;
  const { options } = await causeway.requirements.list(offerId, { signal });
  const asked = options[optionId]?.data ?? [];
  if (asked.length === 0) return;
  const { statuses } = await causeway.requirements.statuses(offerId, { signal });
  const open = asked.flatMap(({ id }) => {
    const { status } = describeStatus(statuses[id]);
    return status === 'completed' ? [] : [[id, [status]]];
  });
  if (open.length > 0) throw notMet(Object.fromEntries(open));
  await orUnscoped(assertBound(session, offerId, optionId, asked));
}

/** In the form of the service's own refusal, so that callers read one. */
function notMet(errors: Record<string, unknown>): Stop {
  const message = 'Not all requirements of the option are completed.';
  const cause = new CausewayError({ code: 'requirements_not_met', status: 0, message, errors });
  return new Stop('requirements_not_met', message, { cause, details: errors });
}

async function assertBound(
  { causeway, address, signal }: Session,
  offerId: string,
  optionId: string,
  asked: Requirement[],
): Promise<void> {
  if (!asked.some(({ type }) => type === 'whitelisted_wallet' || type === 'external_wallet')) return;
  for await (const bound of causeway.wallets.list(offerId, { offer_option_id: optionId }, { signal }))
    if (bound.address.toLowerCase() === address) return;
  throw new Stop('wallet_not_bound', 'The option takes bound wallets only, and this one is not bound to it.');
}

/**
 * Allowances are not reserved: a new approval of the same fund would take away what an earlier participation of this
 * wallet still waits for. So the earlier ones come first. `waiting` is told when there are any.
 */
export async function waitForEarlier(
  session: Session,
  { offerId, assetId }: { offerId: string; assetId: string },
  waiting: () => void,
): Promise<void> {
  const begun = Date.now();
  for (let isFirst = true; ; isFirst = false) {
    const open = (await orUnscoped(listOpen(session, offerId, assetId))) ?? [];
    if (open.length === 0) return;
    if (isFirst) waiting();
    if (Date.now() - begun >= session.confirmWithin)
      throw new Stop(
        'participation_outstanding',
        'An earlier participation of this wallet is not settled yet.',
        {
          details: { participations: open },
        },
      );
    await sleep(session.pollEvery, session.signal);
  }
}

async function listOpen(
  { causeway, address, chain, signal }: Session,
  offerId: string,
  assetId: string,
): Promise<string[]> {
  const filters = [
    { field: 'offer_id', op: '==', value: offerId },
    { field: 'status', op: 'in', value: ['prepared', 'pending', 'submitted'] },
  ] as const;
  const open: string[] = [];
  for await (const one of causeway.participations.list({ filters, limit: 100 }, { signal })) {
    const isOfWallet = (one.wallet_address?.toLowerCase() as Hex | undefined) === address;
    if (isOfWallet && one.chain === chain && one.asset.id === assetId) open.push(one.id);
  }
  return open;
}

/** A token without the scope to look goes on without the look: the service checks it all again. */
async function orUnscoped<Result>(look: Promise<Result>): Promise<Result | null> {
  return look.catch((error: unknown) => {
    if (isCausewayError(error, 'insufficient_scope')) return null;
    throw error;
  });
}
