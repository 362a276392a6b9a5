import type { Hex } from 'viem';
import type { ChainOptions } from './chain.ts';
import { roles, testWallets } from './keys.ts';

/** Before any service ran, and the same everywhere. */
export const GENESIS_TIMESTAMP = 1_735_689_600;

const ETHER = 10n ** 18n;

/** The first block: gas for those who need some. */
export async function chainGenesis(chainId: number): Promise<ChainOptions['genesis']> {
  const wallets = testWallets.filter(({ protocol }) => protocol === 'ethereum');
  return {
    chainId,
    genesisTimestamp: GENESIS_TIMESTAMP,
    accounts: [
      { address: roles.deployer.address, balance: 1_000_000_000n * ETHER },
      { address: roles.operator.address, balance: 1_000n * ETHER },
      ...wallets.map(({ address }) => ({ address: address as Hex, balance: 100n * ETHER })),
    ],
  };
}
