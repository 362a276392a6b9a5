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
 * Loads EDR's native package for this platform. One of the packages in `sandbox/edr` installs it.
 * `@nomicfoundation/edr` itself would install the binaries for all platforms (200 MB).
 */
export function loadEdr(platform: string = process.platform, arch: string = process.arch): Edr {
  const name = `@nomicfoundation/edr-${platform}-${arch}${platform === 'linux' ? '-gnu' : ''}`;
  try {
    return createRequire(import.meta.url)(name) as Edr;
  } catch (cause) {
    throw new Error(
      `${name} is not installed. The sandbox runs on Linux (glibc) and macOS, on x64 and arm64. On a supported machine, run "npm ci".`,
      { cause },
    );
  }
}
