/** The EVM chains that the sandbox runs. `tokenized` chains have the venue and the tokenized swap contract. */
export const EMBEDDED_CHAINS = [
  { chain: 'ethereum_sepolia', chainId: 11_155_111, tokenized: true },
  { chain: 'base_sepolia', chainId: 84_532, tokenized: false },
] as const;

export type EmbeddedChain = (typeof EMBEDDED_CHAINS)[number];
export type EmbeddedChainName = EmbeddedChain['chain'];
