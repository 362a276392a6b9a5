import { multicall3 } from '@causeway/contracts/abi/multicall3.ts';
import type { Hex } from 'viem';
import { roles, testWallets } from '../../seed/keys.ts';
import type { ChainOptions } from './chain.ts';

/** The time of the genesis block. It is fixed, so that the deployment's blocks are the same in every sandbox. */
export const GENESIS_TIMESTAMP = 1_735_689_600;

/** Multicall3's address on public chains. */
export const MULTICALL_ADDRESS: Hex = '0xca11bde05977b3631167028862be2a173976ca11';

const ETHER = 10n ** 18n;

/** The genesis block: funded accounts and the multicall contract. */
export function chainGenesis(chainId: number): ChainOptions['genesis'] {
  const { deployer, owner, venueOwner, operator } = roles;
  const wallets = testWallets.filter(({ protocol }) => protocol === 'ethereum');
  return {
    chainId,
    genesisTimestamp: GENESIS_TIMESTAMP,
    accounts: [
      { address: deployer.address, balance: 1_000_000_000n * ETHER },
      ...[owner, venueOwner, operator].map(({ address }) => ({ address, balance: 10_000n * ETHER })),
      ...wallets.map(({ address }) => ({ address: address as Hex, balance: 100n * ETHER })),
    ],
    contracts: [{ address: MULTICALL_ADDRESS, code: multicall3.deployedBytecode }],
  };
}
