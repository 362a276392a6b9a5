import { type Hex, zeroAddress } from 'viem';
import { SENDING_ROLES, type SendingRole } from '../../kernel/config/role.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { revertData } from '../../platform/chain/evm/revert.ts';
import {
  encodeRoleProbe,
  fundBlockedReason,
  readFundGeneration,
} from '../../platform/chain/evm/sale-fund.ts';
import type { Context } from '../../platform/context/context.ts';
import { listFunds } from './reconcile-store.ts';

/**
 * Maps each role of our keys to the role that the key needs in a fund. The fund's owner grants the roles in the fund.
 */
export const FUND_ROLE = { commit: 'commit', refund: 'remit' } as const;

/** Returns whether the key `from` has the fund role that `role` requires (`FUND_ROLE`). */
export async function hasRole(chain: EvmChain, fund: Hex, role: SendingRole, from: Hex): Promise<boolean> {
  const data = encodeRoleProbe(FUND_ROLE[role], zeroAddress, await readFundGeneration(chain, fund));
  try {
    await chain.rpc.request({ method: 'eth_call', params: [{ from, to: fund, data }, 'latest'] });
    return true;
  } catch (error) {
    const revert = revertData(error);
    if (revert === undefined) throw error;
    return fundBlockedReason(revert) !== 'role_missing';
  }
}

/**
 * Logs every fund role that a key of this process needs but lacks, so that an operator knows before the first commit.
 * The process starts regardless, because other funds and the rest of the service do not depend on that role.
 */
export async function reportMissingRoles({ db, log, chains, signerOf }: Context): Promise<void> {
  for (const chain of chains.all())
    try {
      for (const { fund } of await listFunds(db, chain.name))
        for (const role of SENDING_ROLES) {
          const signer = signerOf(role, chain.name);
          if (signer === null || (await hasRole(chain, fund, role, signer.address))) continue;
          const fields = { chain: chain.name, fund, role, address: signer.address };
          log.error(
            fields,
            `the ${role} key lacks the fund role "${FUND_ROLE[role]}"; the fund's owner must grant it`,
          );
        }
    } catch (err) {
      log.warn({ err, chain: chain.name }, 'could not check the fund roles of the keys');
    }
}
