import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { type Hex, zeroAddress } from 'viem';
import { encodeFunctionData, hashTypedData } from 'viem/utils';
import type { EvmChain } from './client.ts';
import { contractCall, optionalView } from './contract-call.ts';

/** Of second-generation fund swaps; the first generation has the same allow-list functions. */
export const allowListAbi = fundSwap.abi;

const PERMISSION_TYPES = {
  AllowWallet: [
    { name: 'wallet', type: 'address' },
    { name: 'offer', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const;

/** Encodes the call that removes a wallet from the allow-list and voids every permission signed for that wallet. */
export function encodeRevoke(wallet: Hex): Hex {
  return encodeFunctionData({ abi: allowListAbi, functionName: 'revoke', args: [wallet] });
}

/**
 * `wallet` may join the list once, for `offer`, until `deadline` (in seconds). Signed by the supplier, the key whose
 * permissions the contract trusts.
 */
export type Permission = { wallet: Hex; offer: Hex; nonce: bigint; deadline: bigint };

type PermissionDomain = { name: string; version: string; chainId: number; verifyingContract: Hex };

/**
 * Some contracts instead check a list kept by the issuer, such as the token's own list, which permissions do not
 * change.
 */
export function acceptsPermissions({ reader, memoize }: EvmChain, contract: Hex): Promise<boolean> {
  return memoize(`permissions ${contract}`, async () => {
    const nonce = reader.read(contractCall(contract, allowListAbi, 'nonces', [zeroAddress]));
    return (await optionalView(nonce)) !== undefined;
  });
}

export async function readPermissionTerms(
  { reader, chainId, memoize }: EvmChain,
  contract: Hex,
  wallet: Hex,
): Promise<{ domain: PermissionDomain; nonce: bigint }> {
  const [nonce, [, name, version]] = await Promise.all([
    reader.read(contractCall(contract, allowListAbi, 'nonces', [wallet])),
    memoize(`domain ${contract}`, () =>
      reader.read(contractCall(contract, allowListAbi, 'eip712Domain', [])),
    ),
  ]);
  // Nothing else comes from the contract, so it cannot obtain a signature for another chain or address.
  return { domain: { name, version, chainId, verifyingContract: contract }, nonce };
}

/** Returns the EIP-712 hash that the supplier signs. */
export function hashPermission(domain: PermissionDomain, message: Permission): Hex {
  return hashTypedData({ domain, types: PERMISSION_TYPES, primaryType: 'AllowWallet', message });
}
