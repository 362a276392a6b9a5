import { isEvmChain } from '../chains.ts';
import type { Causeway } from '../client.ts';
import type { CausewayError } from '../error.ts';
import { isSameAddress } from '../same-address.ts';
import type { OfferDetails, Participation } from '../wire.ts';

/**
 * Lists the wallet's unsettled participations whose allowances a purchase from `offer` could replace:
 * - On EVM chains, an allowance belongs to a contract, and offers can share a contract.
 * - On Solana, a token account has only one delegate, so an approval for any offer replaces the earlier one.
 *
 * The purchase replaces only allowances on its own chain and for the asset it pays with. The caller selects these.
 */
export async function listAllowanceUsers(
  causeway: Causeway,
  offer: OfferDetails,
  owner: string,
  signal: AbortSignal | undefined,
): Promise<Participation[]> {
  const others = new Map<string, Promise<OfferDetails | null>>();
  /** Reads an offer once. Returns null if the caller may not see it. */
  const readOther = (id: string): Promise<OfferDetails | null> => {
    const reading =
      others.get(id) ??
      causeway.offers.get(id, { signal }).catch((error: CausewayError) => {
        if (error.code === 'not_found' || error.code === 'insufficient_scope') return null;
        throw error;
      });
    others.set(id, reading);
    return reading;
  };
  const isSharing = async ({ offer_id: id, chain }: Participation): Promise<boolean> => {
    if (id === offer.id || !isEvmChain(chain)) return true;
    const own = contractOn(offer, chain);
    if (own === undefined) return false;
    return isSameAddress(own, contractOn(await readOther(id), chain) ?? '');
  };
  const filters = [{ field: 'status', op: 'in', value: ['prepared', 'pending', 'submitted'] }] as const;
  const found: Participation[] = [];
  for await (const one of causeway.participations.list({ filters, limit: 100 }, { signal }))
    if (isSameAddress(one.wallet_address ?? '', owner) && (await isSharing(one))) found.push(one);
  return found;
}

function contractOn(offer: OfferDetails | null, chain: string): string | undefined {
  return offer?.contracts.find((contract) => contract.chain === chain)?.address ?? undefined;
}
