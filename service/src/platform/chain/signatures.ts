import type { Hex } from 'viem';
import { hashMessage, hexToBytes } from 'viem/utils';
import { type ChainName, chainFacts } from '../../kernel/chains.ts';
import { ApiError } from '../../kernel/errors.ts';
import { type CooperativeQueue, createCooperativeQueue } from './cooperative-queue.ts';
import { isSignedByContract } from './evm/contract-signature.ts';
import { isSignedByKey } from './evm/secp256k1.ts';
import type { Chains } from './open-chains.ts';
import { isSignedMessage } from './solana/signed-message.ts';

export type Signed = {
  chain: ChainName;
  address: string;
  text: string;
  signature: string;
};

/** A key's signature is valid on every chain of the protocol, a contract's only on the chain where it was checked. */
export type SignerKind = 'key' | 'contract';

export type Signatures = {
  /**
   * Null if the owner did not sign the text. Throws an upstream `ApiError` if no RPC node answers, and
   * `chain_not_supported` if only a contract can have made such a signature and the chain has no RPC endpoint.
   */
  check(signed: Signed): Promise<SignerKind | null>;
  /** Returns a `Signatures` for other chains, such as those of a partner's lane (`Chains.inLane`). */
  on(chains: Chains): Signatures;
};

export function createSignatures(
  chains: Chains,
  enqueue: CooperativeQueue = createCooperativeQueue(),
): Signatures {
  async function checkEvm({ chain, address, text, signature }: Signed): Promise<SignerKind | null> {
    // Allows an empty signature (`0x`): contract wallets use it for a message that was signed on chain.
    if (!/^0x([0-9a-fA-F]{2})*$/.test(signature)) return null;
    const bytes = hexToBytes(signature as Hex);
    const [hash, isKeySignature] = await enqueue(() => {
      const hash = hashMessage(text, 'bytes');
      return [hash, isSignedByKey(address, hash, bytes)] as const;
    });
    // A signature by the address's own key is sufficient proof, so no RPC call is needed.
    if (isKeySignature) return 'key';
    const evm = chains.all().find(({ name }) => name === chain);
    if (evm !== undefined)
      return (await isSignedByContract(evm, address as Hex, hash, signature as Hex)) ? 'contract' : null;
    if (bytes.length === 65 || bytes.length === 64) return null;
    throw new ApiError('chain_not_supported', {
      chain: [`this service cannot verify contract wallet signatures on ${chain}`],
    });
  }

  async function checkSolana({ address, text, signature }: Signed): Promise<SignerKind | null> {
    return (await isSignedMessage(address, text, signature)) ? 'key' : null;
  }

  const checks = { ethereum: checkEvm, solana: checkSolana };
  return {
    check: (signed) => checks[chainFacts(signed.chain).protocol](signed),
    on: (others) => createSignatures(others, enqueue),
  };
}
