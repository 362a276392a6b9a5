import type { Hex } from 'viem';
import type { KeyRole } from '../../kernel/config/role.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import type { Chains } from '../../platform/chain/open-chains.ts';
import type { ViewedContract } from '../offers/views.ts';
import type { OfferFile } from './file-schema.ts';

/**
 * What the on-chain checks of an offer file need, apart from the file. If no address is known for a role, the checks
 * for that role are skipped.
 */
export type CheckParts = {
  chains: Pick<Chains, 'evm' | 'solana'>;
  digits: ReadonlyMap<string, number>;
  /** Returns the address of the key that has a role on a chain, or null if the address is unknown. */
  addressOf(role: KeyRole, chain: string): Hex | null;
  /**
   * Returns the addresses of the keys that sign our commit and refund transactions on a Solana cluster; empty if the
   * addresses are unknown.
   */
  solanaOperatorsOf(chain: string): readonly string[];
  /** Called for likely mistakes that are not errors. */
  warn?(message: string): void;
};

/** What a check sees: the file, one of its contracts, and that contract's chain. */
export type CheckTarget = CheckParts & {
  file: OfferFile;
  contract: Omit<ViewedContract, 'funding_tokens'> & {
    domain_name: string | null;
    funding_tokens: readonly FundingToken[];
  };
  chain: EvmChain;
};
type FundingToken = { asset: string; address: Hex };

/**
 * `run` returns a description of the problem, or null if there is none. `path` is the checked field, relative to the
 * contract.
 */
export type Check = { path: string; run: () => Promise<string | null> };
