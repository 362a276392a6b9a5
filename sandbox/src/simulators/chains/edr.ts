import { createRequire } from 'node:module';

/** A chain that runs in EDR, Hardhat's EVM. */
export type Provider = { handleRequest(request: string): Promise<{ data: unknown }> };

type Account = { address: Uint8Array; balance?: bigint; code?: Uint8Array };

export type EdrContext = {
  registerProviderFactory(chainType: string, factory: object): Promise<void>;
  createProvider(
    chainType: string,
    config: { genesisState: Account[]; hardfork: string } & Record<string, unknown>,
    logger: object,
    subscription: object,
    decoder: object,
  ): Promise<Provider>;
};

/** The part of EDR's interface that the simulator uses. */
type Edr = {
  EdrContext: new () => EdrContext;
  ContractDecoder: new () => object;
  L1_CHAIN_TYPE: string;
  PRAGUE: string;
  l1ProviderFactory(): object;
  l1HardforkFromString(hardfork: string): number;
  l1GenesisState(hardfork: number): Account[];
};

/**
 * Loads EDR's native package for this platform. It is installed through the packages in `sandbox/edr`, one for each
 * supported platform, because `@nomicfoundation/edr` would install the binaries of all platforms (200 MB).
 */
export function loadEdr(platform: string = process.platform, arch: string = process.arch): Edr {
  const name = `@nomicfoundation/edr-${platform}-${arch}${platform === 'linux' ? '-gnu' : ''}`;
  try {
    return createRequire(import.meta.url)(name) as Edr;
  } catch (cause) {
    throw new Error(
      `${name} is not installed: the sandbox runs on Linux with glibc and on macOS, on x64 and arm64; if this is such a machine, run npm ci`,
      { cause },
    );
  }
}
