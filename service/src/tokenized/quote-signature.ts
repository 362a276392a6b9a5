import type { VerifyRequest } from '@causeway/contracts/encodings/tokenized-order.ts';
import type { Hex } from 'viem';
import type { EvmChain } from '../chain/evm/client.ts';
import type { EvmContract } from '../offers/stored-offer.ts';
import { asUnavailable } from '../operator/blocked.ts';
import type { Signer } from '../operator/signer.ts';
import { readDomain } from './swap-domain.ts';

/**
 * Uses the quote key to sign the EIP-712 request that allows `sender` to trade once until `expiry`. The swap contract
 * checks this signature as well as the venue's signature on the quote (`Attestation.signature`).
 */
export async function signQuoteRequest(
  signer: Signer,
  chain: EvmChain,
  contract: EvmContract,
  request: VerifyRequest,
): Promise<Hex> {
  return signer.signRequest(await readDomain(chain, contract), request).catch(asUnavailable);
}
