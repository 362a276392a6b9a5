import type { Hex } from 'viem';
import { chainFacts } from '../../kernel/chains.ts';
import { findChainIdProblems } from '../../platform/chain/evm/chain-id.ts';
import { findApiError } from '../../platform/chain/rpc/failures.ts';
import { findClusterProblems } from '../../platform/chain/solana/client.ts';
import { describeFailure, readViews, requiredViews } from '../offers/views.ts';
import { allowListChecks } from './allow-list-checks.ts';
import type { Check, CheckParts, CheckTarget } from './check-target.ts';
import type { OfferFile } from './file-schema.ts';
import { fundChecks } from './fund-checks.ts';
import { checkSolanaContract } from './solana-checks.ts';
import { swapChecks } from './swap-checks.ts';
import { tokenChecks } from './token-checks.ts';
import { tokenizedChecks } from './tokenized-checks.ts';

const CHECKS_OF_TYPE = {
  'platform::token_sale': fundChecks,
  'fund::swap': swapChecks,
  'tokenized::swap': tokenizedChecks,
} as const;

/**
 * Checks an offer file's contracts on chain. Returns one line per problem. Each line starts with the offer's slug and
 * the path in the file.
 */
export async function checkContracts(parts: CheckParts, file: OfferFile): Promise<string[]> {
  const found = await Promise.all(
    file.contracts.map(async (contract) => {
      const at = `${file.slug}: contracts.${contract.chain}`;
      const missing = [`${at}: cannot be checked: RPC_URL_${contract.chain.toUpperCase()} is not set`];
      if (chainFacts(contract.chain).protocol === 'solana')
        return (await checkOnSolana(parts, contract, at)) ?? missing;
      const chain = ifSupported(() => parts.chains.evm(contract.chain));
      if (chain === null) return missing;
      const wrongChain = await findChainIdProblems(chain);
      if (wrongChain.length > 0) return wrongChain.map((problem) => `${at}: ${problem}`);
      const problems = await checkContract({ ...parts, file, chain, contract: toViewed(contract) });
      return problems.map((problem) => `${at}.${problem}`);
    }),
  );
  return found.flat();
}

/**
 * Checks the contract's interface first. If functions are missing, runs only the token checks, because the missing
 * functions would make the other checks fail.
 */
async function checkContract(target: CheckTarget): Promise<string[]> {
  const { file, contract, chain } = target;
  const views = requiredViews(file.type, contract);
  const missing = describeMissing(target, await readViews(chain, views));
  const checks =
    missing.length > 0
      ? tokenChecks(target)
      : [...CHECKS_OF_TYPE[file.type](target), ...allowListChecks(target), ...tokenChecks(target)];
  const problems = await Promise.all(checks.map(runCheck));
  return [...missing, ...problems.filter((problem) => problem !== null)];
}

function describeMissing(
  { file: { type }, contract }: CheckTarget,
  failures: Awaited<ReturnType<typeof readViews>>,
): string[] {
  const pathOf = (address: Hex) => (address === contract.address ? 'address' : 'allow_list');
  return [...new Set(failures.map(({ address }) => address))].map((address) => {
    const failed = failures.filter((failure) => failure.address === address);
    const [first] = failed;
    if (first !== undefined && first.error.code !== 'contract_reverted')
      return `${pathOf(address)}: ${describeFailure(first.error)}`;
    const reasons = failed.map(({ signature, error }) => `${signature}: ${describeFailure(error)}`);
    const needed = requiredViews(type, contract).filter((view) => view.address === address);
    return (
      `${pathOf(address)}: does not have the expected interface (${reasons.join('; ')}); ` +
      `${type} needs ${needed.map(({ signature }) => signature).join(', ')}`
    );
  });
}

async function runCheck({ path, run }: Check): Promise<string | null> {
  try {
    const problem = await run();
    return problem === null ? null : `${path}: ${problem}`;
  } catch (error) {
    const known = findApiError(error);
    if (known === undefined) throw error;
    return `${path}: ${describeFailure(known)}`;
  }
}

/**
 * Checks a contract on Solana and returns its problems. Returns null if there is no RPC endpoint for the
 * chain.
 */
async function checkOnSolana(
  { chains, digits, solanaOperatorsOf, warn }: CheckParts,
  contract: OfferFile['contracts'][number],
  at: string,
): Promise<string[] | null> {
  const chain = ifSupported(() => chains.solana(contract.chain));
  if (chain === null) return null;
  const wrongCluster = await findClusterProblems(chain);
  if (wrongCluster.length > 0) return wrongCluster.map((problem) => `${at}: ${problem}`);
  const { problems, warnings } = await checkSolanaContract(
    { digits, operators: solanaOperatorsOf(contract.chain) },
    chain,
    contract,
  );
  for (const warning of warnings) warn?.(`${at}.${warning}`);
  return problems.map((problem) => `${at}.${problem}`);
}

function ifSupported<T>(open: () => T): T | null {
  try {
    return open();
  } catch {
    return null;
  }
}

function toViewed(contract: OfferFile['contracts'][number]): CheckTarget['contract'] {
  const address = lower(contract.address);
  const { asset_address, allow_list, domain_name, funding_tokens } = contract;
  return {
    address,
    domain_name,
    asset_address: asset_address === null ? null : lower(asset_address),
    allow_list: allow_list === false ? null : allow_list === true ? address : lower(allow_list),
    funding_tokens: funding_tokens.map((token) => ({ asset: token.asset, address: lower(token.address) })),
  };
}

function lower(address: string): Hex {
  return address.toLowerCase() as Hex;
}
