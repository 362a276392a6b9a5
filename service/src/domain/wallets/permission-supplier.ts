import { encodeFunctionData, keccak256, toHex } from 'viem/utils';
import type { Clock } from '../../kernel/clock.ts';
import {
  acceptsPermissions,
  allowListAbi,
  readPermissionTerms,
} from '../../platform/chain/evm/allow-list.ts';
import { readChainTime } from '../../platform/chain/evm/node-reads.ts';
import type { Supplier } from '../../platform/context/ports.ts';
import { asUnavailable } from '../../platform/operator/blocked.ts';
import type { SignerOf } from '../../platform/operator/signers.ts';
import { notConfigured } from '../../platform/outbound/failure.ts';

const PERMISSION_TTL_S = 10n * 60n;

/** Grants wallets permission by signing an EIP-712 message with the key that the contract accepts as the supplier's. */
export function permissionSupplier(signerOf: SignerOf, clock: Clock): Supplier {
  return {
    canAdmit: ({ chain, contract }) => acceptsPermissions(chain, contract),
    verifyWallet: async ({ chain, contract, wallet, offerId }) => {
      const signer = signerOf('supplier', chain.name);
      if (signer === null) throw notConfigured('supplier', 'SUPPLIER_KEY');
      const offer = keccak256(toHex(offerId));
      const deadline = (await latestTime(clock, readChainTime(chain))) + PERMISSION_TTL_S;
      const { domain, nonce } = await readPermissionTerms(chain, contract, wallet);
      const signature = await signer
        .signPermission(domain, { wallet, offer, nonce, deadline })
        .catch(asUnavailable);
      const args = [wallet, offer, deadline, signature] as const;
      return {
        to: contract,
        data: encodeFunctionData({ abi: allowListAbi, functionName: 'allow', args }),
        deadline: Number(deadline) * 1000,
      };
    },
  };
}

/** The contract compares the deadline with the chain's time, which may be ahead of ours. */
async function latestTime(clock: Clock, chainTime: Promise<bigint>): Promise<bigint> {
  const ours = BigInt(Math.floor(clock.now() / 1000));
  const theirs = await chainTime;
  return ours > theirs ? ours : theirs;
}
