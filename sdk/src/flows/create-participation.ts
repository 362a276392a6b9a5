import { keccak256, stringToHex } from 'viem/utils';
import { isCausewayError } from '../error.ts';
import type { NewParticipation } from '../participations.ts';
import type { Participation } from '../wire.ts';
import type { WalletSession } from './session.ts';

type Purchase = { offer: { id: string }; optionId: string; assetId: string };

export function participationBody(
  { address, chain }: WalletSession,
  { offer, optionId, assetId }: Purchase,
  amount: bigint,
  hash: string,
): NewParticipation {
  return {
    offer_id: offer.id,
    offer_option_id: optionId,
    chain,
    wallet_address: address,
    amount: String(amount),
    asset_id: assetId,
    approval_transaction_hash: hash,
  };
}

/**
 * Creates a participation. The idempotency key is derived from the request, so a resumed purchase sends the same key,
 * and the service replays its first response. That response may be an outdated rejection: the user may have met a
 * requirement since then. A resumed request that is rejected is therefore sent once more, with a new key. Sending the
 * request again is safe, because the service accepts each approval only once.
 */
export async function createParticipation(
  { causeway, signal }: WalletSession,
  body: NewParticipation,
  isResumed: boolean,
): Promise<Participation> {
  const idempotencyKey = `sale-${keccak256(stringToHex(JSON.stringify(Object.values(body)))).slice(2)}`;
  try {
    return await causeway.participations.create(body, { signal, idempotencyKey });
  } catch (error) {
    const isRejected =
      isCausewayError(error) && error.status >= 400 && error.status < 500 && error.status !== 429;
    if (!isResumed || !isRejected) throw error;
    return causeway.participations.create(body, { signal });
  }
}
