import {
  type Domain,
  separatorOf,
  swapDomain,
  type VerifyRequest,
} from '@causeway/contracts/encodings/tokenized-order.ts';
import type { Hex } from 'viem';
import { ApiError } from '../../kernel/errors.ts';
import type { EvmContract } from '../../kernel/model/stored-offer.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import {
  readDomainName,
  readDomainSeparator,
  readOperator,
} from '../../platform/chain/evm/tokenized-swap.ts';
import type { Context } from '../../platform/context/context.ts';
import { asUnavailable } from '../../platform/operator/blocked.ts';
import type { Signer } from '../../platform/operator/signer.ts';
import { listServedOffers } from '../offers/offer.ts';

/**
 * Throws `contract_reverted` if neither the contract nor the offer specifies the domain name, or if the domain does
 * not match the contract's separator.
 */
export function readDomain(chain: EvmChain, contract: EvmContract): Promise<Domain> {
  const { address, domain_name } = contract;
  return chain.memoize(`swap domain ${address} ${domain_name ?? ''}`, async () => {
    const [publishedName, separator] = await Promise.all([
      readDomainName(chain, address),
      readDomainSeparator(chain, address),
    ]);
    const name = publishedName ?? domain_name;
    if (name === null) throw refused('the contract has no eip712Domain(); set domain_name in the offer');
    const domain = swapDomain(name, chain.chainId, address);
    if (separatorOf(domain) !== separator)
      throw refused(`the contract's EIP-712 domain name is not "${name}"`);
    return domain;
  });
}

/**
 * Spends no attestation on an order that cannot be executed. A contract that does not publish its signer passes,
 * because the order is simulated later anyway.
 */
export async function assertOperator(chain: EvmChain, contract: EvmContract, signer: Signer): Promise<void> {
  const operator = await readOperator(chain, contract.address);
  if (operator !== null && operator !== signer.address)
    throw refused(`the contract accepts orders signed by ${operator}, not by ${signer.address}`);
}

function refused(reason: string): ApiError {
  return new ApiError('contract_reverted', { reason });
}

export async function findSwapProblems(ctx: Context): Promise<string[]> {
  const served = await listServedOffers(ctx);
  const swaps = served.filter(({ type }) => type === 'tokenized::swap');
  if (swaps.length === 0) return [];
  const problems: string[] = [];
  if (ctx.config.venue === null) problems.push('ONDO_API_KEY: is required to serve tokenized swaps');
  const chains = new Set(swaps.flatMap(({ contracts }) => contracts.map(({ chain }) => chain)));
  for (const chain of chains)
    if (ctx.signerOf('quote', chain) === null)
      problems.push(
        `OPERATOR_KEY: is required to serve tokenized swaps on ${chain}, unless OPERATOR_KEYS_FILE has a quote key`,
      );
  return problems;
}

/**
 * The request allows `sender` to trade once until `expiry`. The swap contract checks this signature as well as the
 * venue's signature on the quote (`Attestation.signature`).
 */
export async function signQuoteRequest(
  signer: Signer,
  chain: EvmChain,
  contract: EvmContract,
  request: VerifyRequest,
): Promise<Hex> {
  return signer.signRequest(await readDomain(chain, contract), request).catch(asUnavailable);
}
