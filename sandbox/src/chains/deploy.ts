import type { Hex } from 'viem';
import type { Chain } from './chain.ts';
import type { EmbeddedChain } from './embedded.ts';
import { roles } from './keys.ts';
import { nextNonce, type PlannedTransaction, transact } from './transact.ts';

export type DeployedToken = { asset_id: string; code: string; name: string; address: Hex; decimals: number };

/** What stands on an embedded chain, for the seeds. */
export type ChainDeployment = { tokens: DeployedToken[] };

export type DeploymentPlan = { transactions: PlannedTransaction[]; deployment: ChainDeployment };

export function planDeployment(_embedded: EmbeddedChain): DeploymentPlan {
  return { transactions: [], deployment: { tokens: [] } };
}

/** Sends what has not been sent yet: the deployer's nonce says how far an earlier start came. */
export async function deploy(
  chain: Chain,
  chainId: number,
  transactions: PlannedTransaction[],
): Promise<void> {
  for (let nonce = await nextNonce(chain, roles.deployer.address); nonce < transactions.length; nonce++) {
    const { status } = await transact(chain, roles.deployer, { ...transactions[nonce], chainId, nonce });
    if (status !== 'success') throw new Error(`transaction ${nonce} of the deployment failed`);
  }
}
