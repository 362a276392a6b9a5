import type { Hex, TransactionSerializableEIP1559, TypedDataDefinition } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { bytesToHex, hashTypedData, hexToNumber, keccak256, serializeTransaction, slice } from 'viem/utils';
import { signHash } from '../chain/evm/secp256k1.ts';

/** A key that signs for the service, wherever it lies. */
export type Signer = {
  /** In lower case. */
  address: Hex;
  /** 65 bytes: r, s in the lower half, and v of 27 or 28. */
  signHash(hash: Hex): Promise<Hex>;
  /** The signed transaction, ready to send. */
  signTransaction(transaction: TransactionSerializableEIP1559): Promise<Hex>;
  /** EIP-712. */
  signTypedData(typedData: TypedDataDefinition): Promise<Hex>;
};

/** Everything follows from an address and the signature of a hash. */
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

/** A key held in this process. */
export function localSigner(privateKey: Uint8Array): Signer {
  const key = bytesToHex(privateKey);
  return createSigner(privateKeyToAddress(key), async (hash) => signHash(key, hash));
}
