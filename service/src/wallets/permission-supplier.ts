import type { Hex } from 'viem';
import { encodeFunctionData, keccak256, toHex } from 'viem/utils';
import { allowListAbi, hashPermission } from '../chain/evm/allow-list.ts';
import { readChainTime } from '../chain/evm/blocks.ts';
import { signHash } from '../chain/evm/secp256k1.ts';
import type { Clock } from '../clock.ts';
import { ApiError } from '../errors.ts';
import type { Supplier } from './allow-list-supplier.ts';

const LIFE = 60n * 60n;

/** Permits by an EIP-712 signature of our own key, which the contract knows as its supplier. */
export function permissionSupplier(key: Hex | null, clock: Clock): Supplier {
  return {
    verifyWallet: async ({ chain, contract, wallet, offerId }) => {
      if (key === null)
        throw new ApiError(
          'upstream_unavailable',
          { upstream: 'supplier' },
          { cause: new Error('SUPPLIER_KEY is not set'), headers: { 'retry-after': '3600' } },
        );
      const offer = keccak256(toHex(offerId));
      const deadline = (await later(clock, readChainTime(chain))) + LIFE;
      const signature = signHash(key, await hashPermission(chain, contract, { wallet, offer, deadline }));
      const args = [wallet, offer, deadline, signature] as const;
      return {
        to: contract,
        data: encodeFunctionData({ abi: allowListAbi, functionName: 'allow', args }),
        deadline: Number(deadline) * 1000,
      };
    },
  };
}

/** The contract goes by the time of its chain, which need not be ours. */
async function later(clock: Clock, chainTime: Promise<bigint>): Promise<bigint> {
  const ours = BigInt(Math.floor(clock.now() / 1000));
  const theirs = await chainTime;
  return ours > theirs ? ours : theirs;
}
