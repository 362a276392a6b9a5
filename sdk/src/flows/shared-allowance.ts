import { isEvmChain } from '../chains.ts';
import type { Causeway } from '../client.ts';
import { isSameAddress } from '../same-address.ts';
import type { Chain, OfferDetails, Participation } from '../wire.ts';
import { ignoreErrors } from './ignore-errors.ts';

/**
 * Lists the wallet's unsettled participations whose allowances a purchase from `offer` could replace:
 * - On EVM chains, an allowance belongs to a contract, and offers can share a contract.
 * - On Solana, a token account has only one delegate, so an approval for any offer replaces the earlier one.
 *
 * The list covers all chains and assets. A purchase replaces only allowances on its own chain and for the asset it pays
 * with, so callers must still filter the list by chain and asset.
 */
export async function listAllowanceUsers(
  causeway: Causeway,
  offer: OfferDetails,
  owner: string,
  signal: AbortSignal | undefined,
): Promise<Participation[]> {
  const contracts = new Map([[offer.id, offer.contracts]]);
  /** Returns the address of an offer's contract, or '' if the caller may not see the offer. Reads each offer once. */
  const readAddress = async (id: string, chain: Chain): Promise<string> => {
    const known =
      contracts.get(id) ??
      (await ignoreErrors(causeway.offers.get(id, { signal }), 'not_found', 'insufficient_scope'))
        ?.contracts ??
      [];
    contracts.set(id, known);
    return known.find((contract) => contract.chain === chain)?.address ?? '';
  };
  const isSharing = async ({ offer_id: id, chain }: Participation): Promise<boolean> =>
    id === offer.id ||
    !isEvmChain(chain) ||
    isSameAddress(await readAddress(offer.id, chain), await readAddress(id, chain));
  const filters = [{ field: 'status', op: 'in', value: ['prepared', 'pending', 'submitted'] }] as const;
  const found: Participation[] = [];
  for await (const one of causeway.participations.list({ filters, limit: 100 }, { signal }))
    if (isSameAddress(one.wallet_address ?? '', owner) && (await isSharing(one))) found.push(one);
  return found;
}
