import { isEvmChain } from '../../chains.ts';
import type { Causeway } from '../../client.ts';
import { listAllowanceUsers } from '../../flows/shared-allowance.ts';
import type { Chain, EvmChain, OfferDetails } from '../../wire.ts';

/** An allowance that is not needed for any participation, for example because the user approved but did not buy. */
export type OpenApproval = {
  chain: EvmChain;
  assetId: string;
  /** In smallest units, as the service reports it. */
  amount: string;
};

/**
 * Reads the allowances that the wallet has given to the offer's contracts. Leaves out every allowance that an unsettled
 * participation needs, even in part, because a revocation or a new approval would overwrite all of it.
 */
export async function readOpenApprovals(
  client: Causeway,
  offer: OfferDetails,
  owner: string,
  signal: AbortSignal | undefined,
): Promise<OpenApproval[]> {
  const candidates = offer.contracts.flatMap(({ chain, address, funding_tokens }) =>
    isEvmChain(chain) ? funding_tokens.map((token) => ({ chain, spender: address, token })) : [],
  );
  const allowances = await Promise.all(
    candidates.map(async ({ chain, spender, token: { address, asset_id } }) => {
      const query = { token_address: address, owner, spender, chain };
      // If a chain cannot be read now, the next poll tries again.
      const { allowance } = await client.token.allowance(query, { signal }).catch(() => ({ allowance: '0' }));
      return { chain, assetId: asset_id, amount: allowance };
    }),
  );
  const open = allowances.filter(({ amount }) => BigInt(amount) > 0n);
  if (open.length === 0) return [];
  // Reads the participations after the allowances. Otherwise, the allowance of a participation created in between would
  // look unneeded.
  const isNeeded = await readNeeded(client, offer, owner, signal);
  return open.filter(({ chain, assetId }) => !isNeeded(chain, assetId));
}

/**
 * Returns a function that tells whether one of the wallet's unsettled participations needs the allowance for an asset.
 */
export async function readNeeded(
  client: Causeway,
  offer: OfferDetails,
  owner: string,
  signal: AbortSignal | undefined,
): Promise<(chain: Chain, assetId: string) => boolean> {
  const isSale = offer.type === 'platform::token_sale';
  const users = isSale ? await listAllowanceUsers(client, offer, owner, signal) : [];
  const needed = new Set(users.map((one) => `${one.chain} ${one.asset.id}`));
  return (chain, assetId) => needed.has(`${chain} ${assetId}`);
}
