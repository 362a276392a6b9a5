import { CHAIN_NAMES, type ChainName, EVM_CHAIN_NAMES, type EvmChainName } from '../chains.ts';
import { LIMIT_NAMES, type LimitName } from './rate-limits.ts';
import type { Read } from './read.ts';

/** Reads all rate limits, in requests per minute. */
export function readLimits(read: Read): Record<LimitName, number> {
  const limits = LIMIT_NAMES.map((name) => [name, read(settingName('RATE_LIMIT', name))]);
  return Object.fromEntries(limits) as Record<LimitName, number>;
}

/** Reads the RPC URLs of the chains. Leaves out chains without a URL. */
export function readRpcUrls(read: Read): Partial<Record<ChainName, string[]>> {
  const urls = CHAIN_NAMES.map((chain) => [chain, read(settingName('RPC_URL', chain)) ?? []] as const);
  return Object.fromEntries(urls.filter(([, list]) => list.length > 0));
}

/** Reads the fee caps, in wei. Leaves out chains without their own cap. */
export function readMaxFees(read: Read): Partial<Record<EvmChainName, bigint>> {
  const fees = EVM_CHAIN_NAMES.map(
    (chain) => [chain, read(settingName('OPERATOR_MAX_FEE_GWEI', chain))] as const,
  );
  return Object.fromEntries(
    fees.flatMap(([chain, gwei]) => (gwei === null ? [] : [[chain, BigInt(gwei) * 1_000_000_000n]])),
  );
}

function settingName<P extends string, N extends string>(prefix: P, name: N): `${P}_${Uppercase<N>}` {
  return `${prefix}_${name.toUpperCase()}` as `${P}_${Uppercase<N>}`;
}
