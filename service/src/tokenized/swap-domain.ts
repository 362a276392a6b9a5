import { type Domain, separatorOf, swapDomain } from '@causeway/contracts/encodings/tokenized-order.ts';
import type { Hex } from 'viem';
import type { EvmChain } from '../chain/evm/client.ts';
import { readDomainName, readDomainSeparator, readOperator } from '../chain/evm/tokenized-swap.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { listAllOffers, type OfferContract } from '../offers/store.ts';
import type { Signer } from '../operator/signer.ts';

/** The configuration and the contract disagree; nothing may be signed. */
export class DomainError extends Error {}

/** The domain that requests are signed in, once the contract has confirmed that it is its own. */
export function readDomain(chain: EvmChain, contract: OfferContract): Promise<Domain & { separator: Hex }> {
  const { address, domain_name } = contract;
  return chain.memoize(`swap domain ${address} ${domain_name ?? ''}`, async () => {
    const [told, separator] = await Promise.all([
      readDomainName(chain, address),
      readDomainSeparator(chain, address),
    ]);
    const name = told ?? domain_name;
    if (name === null)
      throw new DomainError(`${address} does not tell its EIP-712 domain; set domain_name in the offer`);
    const domain = swapDomain(name, chain.chainId, address);
    if (separatorOf(domain) !== separator)
      throw new DomainError(`the EIP-712 domain of ${address} on ${chain.name} is not ${name}`);
    return { ...domain, separator };
  });
}

/** Throws unless the contract takes this signer's word. */
export async function assertOperator(
  chain: EvmChain,
  contract: OfferContract,
  signer: Signer,
): Promise<void> {
  const operator = await readOperator(chain, contract.address);
  if (operator !== signer.address)
    throw new DomainError(
      `${contract.address} on ${chain.name} takes requests of ${operator}, not ${signer.address}`,
    );
}

/**
 * At the start: what is wrong with the tokenized swaps that are served. Chains that do not answer now are looked at
 * before the first signature.
 */
export async function findSwapProblems(ctx: Context): Promise<string[]> {
  const now = ctx.clock.now();
  const served = (await listAllOffers(ctx.db)).filter(
    ({ type, published_at, ends_at }) =>
      type === 'tokenized::swap' && published_at !== null && (ends_at === null || Date.parse(ends_at) > now),
  );
  if (served.length === 0) return [];
  const problems: string[] = [];
  if (ctx.config.venue === null)
    problems.push('ONDO_API_KEY: is required, because tokenized swaps are served');
  if (ctx.operator === null) problems.push('OPERATOR_KEY: is required, because tokenized swaps are served');
  for (const { slug, contracts } of served)
    for (const contract of contracts) {
      const problem = await findProblem(ctx, contract);
      if (problem !== null) problems.push(`offer ${slug}: ${problem}`);
    }
  return problems;
}

async function findProblem(ctx: Context, contract: OfferContract): Promise<string | null> {
  try {
    const chain = ctx.chains.evm(contract.chain);
    await readDomain(chain, contract);
    if (ctx.operator !== null) await assertOperator(chain, contract, ctx.operator);
    return null;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    if (error instanceof ApiError && error.status >= 500) {
      ctx.log.warn({ err: error, contract: contract.address }, 'a swap contract could not be checked yet');
      return null;
    }
    return `${contract.address} on ${contract.chain}: ${(error as Error).message}`;
  }
}
