import { isEvmChain } from '../../chains.ts';
import type { Causeway } from '../../client.ts';
import { ignoreErrors } from '../../flows/ignore-errors.ts';
import { listAllowanceUsers } from '../../flows/shared-allowance.ts';
import { isSameAddress } from '../../same-address.ts';
import type { Chain, EvmChain, OfferDetails, Participation } from '../../wire.ts';
import type { UnfinishedSale } from './unfinished-sale.ts';

/** An allowance that is not needed for any participation, for example because the user approved but did not buy. */
export type OpenApproval = {
  chain: EvmChain;
  assetId: string;
  /** The allowance in smallest units, as the service reports it. */
  amount: string;
};

/** A chain, and a funding asset on it. */
type Place = { chain: Chain; assetId: string };

/**
 * Reads the allowances that the wallet has given to the offer's contracts. Leaves out every allowance that an unsettled
 * participation or an unfinished purchase from another offer needs, even in part, because a revocation or a new
 * approval would overwrite the whole allowance. `readOthers` returns the approved purchases from other offers.
 */
export async function readOpenApprovals(
  client: Causeway,
  offer: OfferDetails,
  owner: string,
  readOthers: () => readonly UnfinishedSale[],
  signal: AbortSignal | undefined,
): Promise<OpenApproval[]> {
  const allowances = await Promise.all(
    offer.contracts.flatMap(({ chain, address: spender, funding_tokens }) =>
      isEvmChain(chain)
        ? funding_tokens.map(async ({ address, asset_id: assetId }) => {
            const query = { token_address: address, owner, spender, chain };
            // If a chain cannot be read now, the next poll tries again.
            const found = await client.token.allowance(query, { signal }).catch(() => null);
            return { chain, assetId, amount: found?.allowance ?? '0' };
          })
        : [],
    ),
  );
  const open = allowances.filter(({ amount }) => BigInt(amount) > 0n);
  if (open.length === 0) return [];
  // Reads the participations after the allowances. Otherwise, the allowance of a participation created in between would
  // look unneeded.
  const isNeeded = await readNeeded(client, offer, owner, readOthers(), signal);
  return open.filter((one) => !isNeeded(one));
}

/**
 * Returns a function that tells whether something needs the wallet's allowance for an asset:
 * - An unsettled participation. `users` are the participations that share an allowance with the offer.
 * - An approved purchase from another offer. `others` are the recorded purchases. A recorded purchase counts if its
 *   offer shares the allowance with `offer`, as in `listAllowanceUsers`, unless the user can no longer finish the
 *   purchase, for example because its offer has ended.
 */
export async function readNeeded(
  client: Causeway,
  offer: OfferDetails,
  owner: string,
  others: readonly UnfinishedSale[],
  signal: AbortSignal | undefined,
  users?: readonly Participation[],
): Promise<(place: Place) => boolean> {
  const needed = new Set<string>();
  const isSale = offer.type === 'platform::token_sale';
  const keyOf = ({ chain, assetId }: Place) => `${chain} ${assetId}`;
  for (const sale of isSale ? others : []) {
    const isSharing = offer.contracts.some(
      ({ chain, address }) =>
        chain === sale.chain && (!isEvmChain(chain) || isSameAddress(address, sale.fund)),
    );
    if (!isSharing || !isSameAddress(sale.wallet, owner)) continue;
    const eligibility = client.offers.eligibility(sale.offerId, {}, { signal });
    const found = await ignoreErrors(eligibility, 'not_found', 'insufficient_scope');
    if (found?.eligible) needed.add(keyOf(sale));
  }
  users ??= isSale ? await listAllowanceUsers(client, offer, owner, signal) : [];
  for (const { chain, asset } of users) needed.add(keyOf({ chain, assetId: asset.id }));
  return (place) => needed.has(keyOf(place));
}
