import type { EvmChain } from './client.ts';

/** Returns a message for each RPC endpoint that serves the wrong chain. Skips endpoints that do not respond. */
export async function findChainIdProblems(chain: EvmChain): Promise<string[]> {
  const heads = await chain.rpc.survey();
  return heads
    .filter(({ network }) => network !== String(chain.chainId))
    .map(
      ({ provider, network }) =>
        `RPC_URL_${chain.name.toUpperCase()}: the endpoint of ${provider} serves chain id ${network}, not ${chain.chainId}`,
    );
}
