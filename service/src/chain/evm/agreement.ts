import type { EvmChain } from './client.ts';

const NEEDED_PROVIDERS = 2;

/**
 * Returns whether two independent providers come to `verdict`. A chain with fewer providers has nothing to compare, so its
 * verdicts stand. A provider that fails does not count.
 */
export async function isAgreed(
  chain: EvmChain,
  verdict: string,
  judge: (view: EvmChain) => Promise<string>,
): Promise<boolean> {
  const providers = chain.rpc.providers();
  if (providers.length < NEEDED_PROVIDERS) return true;
  const verdicts = await Promise.allSettled(providers.map((rpc) => judge({ ...chain, rpc })));
  const agreeing = verdicts.filter((each) => each.status === 'fulfilled' && each.value === verdict);
  return agreeing.length >= NEEDED_PROVIDERS;
}
