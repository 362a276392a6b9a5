import { hashRequestIn, type VerifyRequest } from '@causeway/contracts/encodings/tokenized-order.ts';
import type { Hex, TransactionSerializableEIP1559 } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { bytesToHex, hashMessage, hexToNumber, keccak256, serializeTransaction, slice } from 'viem/utils';
import { signHash } from '../chain/evm/secp256k1.ts';

/**
 * A key that signs for the service, held locally or in KMS. It does not sign arbitrary hashes, because a hash
 * could be that of a transaction. Quotes (EIP-712) and texts (EIP-191) are hashed here with prefixes that no
 * transaction has. Signatures are 65 bytes: r, low s, and v of 27 or 28.
 */
export type Signer = {
  /** Lower case. */
  address: Hex;
  /** Returns the serialised signed transaction. */
  signTransaction(transaction: TransactionSerializableEIP1559): Promise<Hex>;
  /** Signs the operator's part of a tokenized quote (EIP-712), for the swap contract with this domain separator. */
  signRequest(separator: Hex, request: VerifyRequest): Promise<Hex>;
  /** Signs a text (EIP-191). */
  signMessage(text: string): Promise<Hex>;
};

/** Builds a signer from an address and a function that signs hashes. */
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
    signRequest: (separator, request) => signHash(hashRequestIn(separator, request)),
    signMessage: (text) => signHash(hashMessage(text)),
  };
}

/** Builds a signer from a private key held in this process. */
export function localSigner(privateKey: Uint8Array): Signer {
  const key = bytesToHex(privateKey);
  return createSigner(privateKeyToAddress(key), async (hash) => signHash(key, hash));
}
