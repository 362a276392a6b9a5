import type { VerifyRequest } from '@causeway/contracts/encodings/tokenized-order.ts';
import type { Hex } from 'viem';
import type { EvmContract } from '../../kernel/model/stored-offer.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { asUnavailable } from '../../platform/operator/blocked.ts';
import type { Signer } from '../../platform/operator/signer.ts';
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
