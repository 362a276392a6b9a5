import {
  type Domain,
  hashRequest,
  type VerifyRequest,
} from '@causeway/contracts/encodings/tokenized-order.ts';
import type { Hex, TransactionSerializableEIP1559 } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { bytesToHex, hexToNumber, keccak256, serializeTransaction, slice } from 'viem/utils';
import { hashPermission, type Permission } from '../chain/evm/allow-list.ts';
import { signHash } from '../chain/evm/secp256k1.ts';

/**
 * A key that signs for the service, held locally or in KMS. It signs only transactions and typed data. It never signs a
 * bare hash, because a hash does not show what is being signed. A signature of typed data is never valid for a
 * transaction, because the hashes of typed data and of transactions always differ. A signature has 65 bytes: r, low s,
 * and v of 27 or 28.
 */
export type Signer = {
  /** Lower case. */
  address: Hex;
  signTransaction(transaction: TransactionSerializableEIP1559): Promise<Hex>;
  /** Signs the operator's part of a tokenized quote (EIP-712). `domain` is the swap contract's domain. */
  signRequest(domain: Domain, request: VerifyRequest): Promise<Hex>;
  signPermission(domain: Domain, permission: Permission): Promise<Hex>;
};

export function createSigner(address: Hex, signHash: (hash: Hex) => Promise<Hex>): Signer {
  return {
    address: address.toLowerCase() as Hex,
    signTransaction: async (transaction) => {
      const unsigned = { ...transaction, type: 'eip1559' as const };
      const signature = await signHash(keccak256(serializeTransaction(unsigned)));
      return serializeTransaction(unsigned, {
        r: slice(signature, 0, 32),
        s: slice(signature, 32, 64),
        yParity: hexToNumber(slice(signature, 64)) - 27,
      });
    },
    signRequest: (domain, request) => signHash(hashRequest(domain, request)),
    signPermission: (domain, permission) => signHash(hashPermission(domain, permission)),
  };
}

export function localSigner(privateKey: Uint8Array): Signer {
  const key = bytesToHex(privateKey);
  return createSigner(privateKeyToAddress(key), async (hash) => signHash(key, hash));
}
