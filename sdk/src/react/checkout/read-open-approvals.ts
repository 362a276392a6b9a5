import { isEvmChain } from '../../chains.ts';
import type { Causeway } from '../../client.ts';
import { isSameAddress } from '../../same-address.ts';
import type { Chain, EvmChain, OfferDetails } from '../../wire.ts';

/** An allowance that no purchase uses: an approval that was not followed by its purchase. */
export type OpenApproval = {
  chain: EvmChain;
  assetId: string;
  /** In smallest units. */
  amount: string;
};

/** Reads the allowances of the offer's contracts that no unsettled participation needs. */
export async function readOpenApprovals(
  client: Causeway,
  offer: OfferDetails,
  owner: string,
  signal: AbortSignal | undefined,
): Promise<OpenApproval[]> {
  // Reads the participations first: one that is collected in between then counts as open, and hides its
  // allowance instead of showing it.
  const reserved = await readReserved(client, offer, owner, signal);
  const candidates = offer.contracts.flatMap(({ chain, address, funding_tokens }) =>
    isEvmChain(chain) ? funding_tokens.map((token) => ({ chain, spender: address, token })) : [],
  );
  const found = await Promise.all(
    candidates.map(async ({ chain, spender, token: { address, asset_id } }) => {
      const query = { token_address: address, owner, spender, chain };
      // A chain that cannot be read now is read again by the next poll.
      const { allowance } = await client.token.allowance(query, { signal }).catch(() => ({ allowance: '0' }));
      const open = BigInt(allowance) - reserved(chain, asset_id);
      return { chain, assetId: asset_id, amount: open.toString(), isOpen: open > 0n };
    }),
  );
  return found.filter(({ isOpen }) => isOpen).map(({ isOpen: _, ...approval }) => approval);
}

/** Returns how much of an allowance the wallet's unsettled participations still need. */
async function readReserved(
  client: Causeway,
  { id, type }: OfferDetails,
  owner: string,
  signal: AbortSignal | undefined,
): Promise<(chain: Chain, assetId: string) => bigint> {
  if (type !== 'platform::token_sale') return () => 0n;
  const filters = [
    { field: 'offer_id', op: '==', value: id },
    { field: 'status', op: 'in', value: ['prepared', 'pending', 'submitted'] },
  ] as const;
  const { data } = await client.participations.list({ filters, limit: 100 }, { signal });
  const mine = data.filter(({ wallet_address }) => isSameAddress(wallet_address ?? '', owner));
  return (chain, assetId) =>
    mine
      .filter((one) => one.chain === chain && one.asset.id === assetId)
      .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}
