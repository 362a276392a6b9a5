import { ApiError } from '@causeway/service/errors.ts';
import Type from 'typebox';
import { EMBEDDED_CHAINS, type EmbeddedChainName } from '../simulators/chains/embedded.ts';

export const ChainParams = Type.Object({ chain: Type.String() });

/** Throws `chain_not_supported` if the chain does not run embedded. */
export function requireEmbeddedChain(name: string): EmbeddedChainName {
  const found = EMBEDDED_CHAINS.find(({ chain }) => chain === name);
  if (found === undefined)
    throw new ApiError('chain_not_supported', { chain: [`${name} is not an embedded chain`] });
  return found.chain;
}
