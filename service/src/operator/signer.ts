import type { Hex, TransactionSerializableEIP1559, TypedDataDefinition } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { bytesToHex, hashTypedData, hexToNumber, keccak256, serializeTransaction, slice } from 'viem/utils';
import { signHash } from '../chain/evm/secp256k1.ts';

/** A key that signs for the service, held locally or in KMS. */
export type Signer = {
  /** Lower case. */
  address: Hex;
  /** Returns 65 bytes: r, low s, and v of 27 or 28. */
  signHash(hash: Hex): Promise<Hex>;
  /** Returns the serialised signed transaction. */
  signTransaction(transaction: TransactionSerializableEIP1559): Promise<Hex>;
  /** Signs EIP-712 typed data, such as the operator's part of a tokenized quote. */
  signTypedData(typedData: TypedDataDefinition): Promise<Hex>;
};

/** Builds a signer from an address and a function that signs hashes. */
export function createSigner(address: Hex, signHash: (hash: Hex) => Promise<Hex>): Signer {
  return {
    address: address.toLowerCase() as Hex,
    signHash,
    signTransaction: async (transaction) => {
      const unsigned = { ...transaction, type: 'eip1559' as const };
      const signature = await signHash(keccak256(serializeTransaction(unsigned)));
      return serializeTransaction(unsigned, {
        r: slice(signature, 0, 32),
        s: slice(signature, 32, 64),
        yParity: hexToNumber(slice(signature, 64)) - 27,
      });
    },
    signTypedData: (typedData) => signHash(hashTypedData(typedData)),
  };
}

/** Builds a signer from a private key held in this process. */
export function localSigner(privateKey: Uint8Array): Signer {
  const key = bytesToHex(privateKey);
  return createSigner(privateKeyToAddress(key), async (hash) => signHash(key, hash));
}
