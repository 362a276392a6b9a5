import { type Domain, separatorOf, swapDomain } from '@causeway/contracts/encodings/tokenized-order.ts';
import type { Hex } from 'viem';
import type { EvmChain } from '../chain/evm/client.ts';
import { readDomainName, readDomainSeparator, readOperator } from '../chain/evm/tokenized-swap.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { listServedOffers } from '../offers/offer.ts';
import type { EvmContract } from '../offers/stored-offer.ts';
import type { Signer } from '../operator/signer.ts';

/** The configuration does not match the contract, so nothing may be signed. */
export class DomainError extends Error {}

/** Returns the EIP-712 domain of a swap contract. Throws `DomainError` unless the contract confirms it. */
export function readDomain(chain: EvmChain, contract: EvmContract): Promise<Domain & { separator: Hex }> {
  const { address, domain_name } = contract;
  return chain.memoize(`swap domain ${address} ${domain_name ?? ''}`, async () => {
    const [publishedName, separator] = await Promise.all([
      readDomainName(chain, address),
      readDomainSeparator(chain, address),
    ]);
    const name = publishedName ?? domain_name;
    if (name === null)
      throw new DomainError(`${address} has no eip712Domain(); set domain_name in the offer`);
    const domain = swapDomain(name, chain.chainId, address);
    if (separatorOf(domain) !== separator)
      throw new DomainError(`the EIP-712 domain name of ${address} on ${chain.name} is not ${name}`);
    return { ...domain, separator };
  });
}

/** Throws `DomainError` unless the contract accepts requests of this signer. */
export async function assertOperator(chain: EvmChain, contract: EvmContract, signer: Signer): Promise<void> {
  const operator = await readOperator(chain, contract.address);
  if (operator !== signer.address)
    throw new DomainError(
      `${contract.address} on ${chain.name} accepts requests signed by ${operator}, not by ${signer.address}`,
    );
}

/**
 * Returns the configuration problems of the served tokenized swaps, at start. Contracts on unreachable chains are
 * skipped, because they are checked again before the first signature.
 */
export async function findSwapProblems(ctx: Context): Promise<string[]> {
  const served = await listServedOffers(ctx, 'tokenized::swap');
  if (served.length === 0) return [];
  const problems: string[] = [];
  if (ctx.config.venue === null) problems.push('ONDO_API_KEY: is required to serve tokenized swaps');
  if (ctx.operator === null) problems.push('OPERATOR_KEY: is required to serve tokenized swaps');
  for (const { slug, contracts } of served)
    for (const contract of contracts) {
      const problem = await findProblem(ctx, contract as EvmContract);
      if (problem !== null) problems.push(`offer ${slug}: ${problem}`);
    }
  return problems;
}

async function findProblem(ctx: Context, contract: EvmContract): Promise<string | null> {
  try {
    const chain = ctx.chains.evm(contract.chain);
    await readDomain(chain, contract);
    if (ctx.operator !== null) await assertOperator(chain, contract, ctx.operator);
    return null;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    if (error instanceof ApiError && error.status >= 500) {
      ctx.log.warn({ err: error, contract: contract.address }, 'swap contract check skipped');
      return null;
    }
    return `${contract.address} on ${contract.chain}: ${(error as Error).message}`;
  }
}
