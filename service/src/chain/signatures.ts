import type { Hex } from 'viem';
import { hexToBytes } from 'viem/utils';
import { ApiError } from '../errors.ts';
import { decodeBase58 } from './address.ts';
import { type ChainName, chainFacts } from './chains.ts';
import { createCooperativeQueue } from './cooperative-queue.ts';
import type { Chains } from './evm/client.ts';
import { isSignedByContract } from './evm/contract-signature.ts';
import { hashText, isSignedByKey } from './evm/secp256k1.ts';
import { isSignedByEd25519 } from './solana/ed25519.ts';

export type Signed = {
  chain: ChainName;
  /** As `normalizeAddress` gives it. */
  address: string;
  text: string;
  /** As the caller sent it. */
  signature: string;
};

export type Signatures = {
  /** Whether the owner of the address signed the text. Throws what the chain's nodes fail with, when they are asked. */
  check(signed: Signed): Promise<boolean>;
};

export function createSignatures(chains: Chains): Signatures {
  const inTurn = createCooperativeQueue();

  async function checkEvm({ chain, address, text, signature }: Signed): Promise<boolean> {
    if (!/^0x([0-9a-fA-F]{2})+$/.test(signature)) return false;
    const bytes = hexToBytes(signature as Hex);
    const [hash, isKey] = await inTurn(() => {
      const hash = hashText(text);
      return [hash, isSignedByKey(address, hash, bytes)] as const;
    });
    // Safe to do first: a hit means that the key of exactly this address signed. It also spares plain keys the node.
    if (isKey) return true;
    const evm = chains.all().find(({ name }) => name === chain);
    if (evm !== undefined) return isSignedByContract(evm, address as Hex, hash, signature as Hex);
    if (bytes.length === 65) return false;
    throw new ApiError('chain_not_supported', {
      chain: [`contract wallets on ${chain} cannot be checked here`],
    });
  }

  async function checkSolana({ address, text, signature }: Signed): Promise<boolean> {
    const publicKey = decodeBase58(address, 32);
    const bytes = decodeBase58(signature, 64);
    return publicKey !== null && bytes !== null && isSignedByEd25519(publicKey, Buffer.from(text), bytes);
  }

  const checks = { ethereum: checkEvm, solana: checkSolana };
  return { check: (signed) => checks[chainFacts(signed.chain).protocol](signed) };
}
