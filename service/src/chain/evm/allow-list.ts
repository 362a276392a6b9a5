import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { type Hex, zeroAddress } from 'viem';
import { encodeFunctionData, hashTypedData } from 'viem/utils';
import type { EvmChain } from './client.ts';
import { contractCall } from './contract-call.ts';
import { optionalView } from './optional-view.ts';

/** The contract that keeps an allow-list. Both generations of the fund swap have these functions. */
export const allowListAbi = fundSwap.abi;

const PERMISSION_TYPES = {
  AllowWallet: [
    { name: 'wallet', type: 'address' },
    { name: 'offer', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const;

/** Encodes the call that removes a wallet from the allow-list and voids every permission signed for it. */
export function encodeRevoke(wallet: Hex): Hex {
  return encodeFunctionData({ abi: allowListAbi, functionName: 'revoke', args: [wallet] });
}

export type Permission = { wallet: Hex; offer: Hex; deadline: bigint };

/**
 * Returns whether the contract accepts permissions. Some contracts check a list of the issuer instead, such as the
 * token's list; permissions do not change that list.
 */
export function acceptsPermissions({ reader, memoize }: EvmChain, contract: Hex): Promise<boolean> {
  return memoize(`permissions ${contract}`, async () => {
    const nonce = reader.read(contractCall(contract, allowListAbi, 'nonces', [zeroAddress]));
    return (await optionalView(nonce)) !== undefined;
  });
}

/** Returns the EIP-712 hash of a permission for the wallet's current nonce. The supplier signs this hash. */
export async function hashPermission(chain: EvmChain, contract: Hex, permission: Permission): Promise<Hex> {
  const { reader, chainId, memoize } = chain;
  const [nonce, [, name, version]] = await Promise.all([
    reader.read(contractCall(contract, allowListAbi, 'nonces', [permission.wallet])),
    memoize(`domain ${contract}`, () =>
      reader.read(contractCall(contract, allowListAbi, 'eip712Domain', [])),
    ),
  ]);
  // The contract provides only the name and version of the domain, so it cannot obtain a signature for another chain or
  // address.
  return hashTypedData({
    domain: { name, version, chainId, verifyingContract: contract },
    types: PERMISSION_TYPES,
    primaryType: 'AllowWallet',
    message: { ...permission, nonce },
  });
}
