import type { Hex } from 'viem';
import { chainFacts } from '../../kernel/chains.ts';
import { SENDING_ROLES } from '../../kernel/config/role.ts';
import { ApiError, invalidField } from '../../kernel/errors.ts';
import type { OfferContract } from '../../kernel/model/stored-offer.ts';
import { readMinCommit } from '../../platform/chain/evm/sale-fund.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import { readAccounts } from '../../platform/chain/solana/reads.ts';
import { readTokenAccount } from '../../platform/chain/solana/token-accounts.ts';
import type { Context } from '../../platform/context/context.ts';
import { findRemoteAddress } from '../../platform/operator/signers.ts';
import type { ApprovalReader } from './approval.ts';
import { evmApprovalReader } from './evm-approval.ts';
import { solanaApprovalReader } from './solana-approval.ts';

type FundingChain = {
  reader: ApprovalReader;
  assertAcceptable(wallet: string, amount: bigint): Promise<void>;
};

/** Throws `chain_not_supported` if this process has no RPC endpoint for the chain. */
export function openFundingChain(ctx: Context, contract: OfferContract): FundingChain {
  if (chainFacts(contract.chain).protocol === 'solana') {
    const chain = ctx.chains.solana(contract.chain);
    return {
      reader: solanaApprovalReader(chain),
      assertAcceptable: (wallet) => assertOutsideWallet(ctx, chain, contract, wallet),
    };
  }
  const chain = ctx.chains.evm(contract.chain);
  return {
    reader: evmApprovalReader(chain),
    assertAcceptable: async (_wallet, amount) => {
      const minimum = await readMinCommit(chain, contract.address as Hex);
      if (amount < minimum) throw invalidField('amount', `is below ${minimum}, the fund's minimum`);
    },
  };
}

/** A commit from the vault's owner, for example, would move nothing and use up no allowance. */
async function assertOutsideWallet(
  { solanaSignerOf, config }: Context,
  chain: SolanaChain,
  { address, vault }: OfferContract,
  wallet: string,
): Promise<void> {
  const vaultOwner = await chain.memoize(`vault ${vault}`, async () => {
    const [account = null] = await readAccounts(chain, [vault ?? ''], { commitment: 'confirmed' });
    const owner = readTokenAccount(account)?.owner;
    if (owner === undefined) throw new ApiError('contract_not_found', { address: vault });
    return owner;
  });
  const operators = SENDING_ROLES.map(
    (role) => solanaSignerOf(role, chain.name)?.address ?? findRemoteAddress(config, role, chain.name),
  );
  if ([vaultOwner, address, ...operators].includes(wallet))
    throw invalidField('wallet_address', 'belongs to the fund and cannot invest in it');
}
