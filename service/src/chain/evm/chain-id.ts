import type { EvmChain } from './client.ts';

/** Returns one line per RPC endpoint that serves another chain. Endpoints that do not answer are not judged. */
export async function findChainIdProblems(chain: EvmChain): Promise<string[]> {
  const heads = await chain.rpc.survey();
  return heads
    .filter(({ chainId }) => chainId !== chain.chainId)
    .map(
      ({ provider, chainId }) =>
        `RPC_URL_${chain.name.toUpperCase()}: the endpoint of ${provider} serves chain id ${chainId}, not ${chain.chainId}`,
    );
}
