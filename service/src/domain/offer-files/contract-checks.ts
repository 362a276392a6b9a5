import { type Hex, zeroAddress } from 'viem';
import { parseAbi } from 'viem/utils';
import { chainFacts } from '../../kernel/chains.ts';
import type { KeyRole, SendingRole } from '../../kernel/config/role.ts';
import { acceptsPermissions, allowListAbi } from '../../platform/chain/evm/allow-list.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { contractCall, erc20Abi, fundSwapAbi, optionalView } from '../../platform/chain/evm/contract-call.ts';
import { findChainIdProblems } from '../../platform/chain/evm/node-reads.ts';
import { describeRevert, revertData } from '../../platform/chain/evm/revert.ts';
import { encodeRoleProbe, readFundGeneration } from '../../platform/chain/evm/sale-fund.ts';
import { readBuyFee, readDomainName, readOperator } from '../../platform/chain/evm/tokenized-swap.ts';
import { findInexactTransfers } from '../../platform/chain/evm/transfer-probe.ts';
import type { Chains } from '../../platform/chain/open-chains.ts';
import { findApiError } from '../../platform/chain/rpc/failures.ts';
import { findClusterProblems } from '../../platform/chain/solana/client.ts';
import { describeFailure, fundAbi, readViews, requiredViews, type ViewedContract } from '../offers/views.ts';
import { feeBpsOf } from '../tokenized/fee.ts';
import type { OfferFile } from './file-schema.ts';
import { checkSolanaContract } from './solana-checks.ts';

/** If no address is known for a role, the checks for that role are skipped. */
export type CheckParts = {
  chains: Pick<Chains, 'evm' | 'solana'>;
  digits: ReadonlyMap<string, number>;
  addressOf(role: KeyRole, chain: string): Hex | null;
  /** The keys that sign commits and refunds on a Solana cluster; empty if unknown. */
  solanaOperatorsOf(chain: string): readonly string[];
  warn?(message: string): void;
};

/** What a check sees: the file, one of its contracts, and that contract's chain. */
type CheckTarget = CheckParts & {
  file: OfferFile;
  contract: Omit<ViewedContract, 'funding_tokens'> & {
    domain_name: string | null;
    funding_tokens: readonly { asset: string; address: Hex }[];
  };
  chain: EvmChain;
};

/** `run` returns a description of the problem, or null. `path` is the checked field, relative to the contract. */
type Check = { path: string; run: () => Promise<string | null> };

const CHECKS_OF_TYPE = {
  'platform::token_sale': fundChecks,
  'fund::swap': swapChecks,
  'tokenized::swap': tokenizedChecks,
} as const;

/** Returns one line per problem. Each line starts with the offer's slug and the path in the file. */
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

/** If functions are missing, runs only the token checks, because the other checks would fail. */
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

function fundChecks({ addressOf, contract, chain }: CheckTarget): Check[] {
  const { address, funding_tokens } = contract;
  const token = funding_tokens[0]?.address ?? zeroAddress;
  const kindCheck = async () => {
    const kind = await chain.reader.read(contractCall(address, fundAbi, 'KIND', []));
    return kind === 0n ? null : `its KIND is ${kind}, but a sale fund has KIND 0`;
  };
  const roleCheck = (role: SendingRole, functionName: 'commit' | 'remit') => async () => {
    const operator = addressOf(role, chain.name);
    if (operator === null) return null;
    const data = encodeRoleProbe(functionName, token, await readFundGeneration(chain, address));
    const revert = await simulate(chain, operator, address, data);
    return revert === 'Unauthorized()'
      ? `the operator ${operator} does not have the ${functionName} role, which the ${role} key needs; the fund's owner must grant it`
      : null;
  };
  return [
    { path: 'address', run: kindCheck },
    { path: 'operator', run: roleCheck('commit', 'commit') },
    { path: 'operator', run: roleCheck('refund', 'remit') },
  ];
}

async function simulate({ rpc }: EvmChain, from: Hex, to: Hex, data: Hex): Promise<string | null> {
  try {
    await rpc.request({ method: 'eth_call', params: [{ from, to, data }, 'latest'] });
    return null;
  } catch (error) {
    const reason = revertData(error);
    if (reason === undefined) throw error;
    return describeRevert(reason);
  }
}

const whitelistAbi = parseAbi(['function inputTokens(address token) view returns (bool)']);

/** The amount for which the checks preview a swap or read its fee, in the funding token's smallest unit. */
const SAMPLE = 10n ** 12n;

/** Compares the output token and the fee with the file, and checks that the contract accepts every funding token. */
function swapChecks({ file, contract, chain }: CheckTarget): Check[] {
  const { address, asset_address, funding_tokens } = contract;
  const outputCheck = async () => {
    const output = await chain.reader.read(contractCall(address, fundSwapAbi, 'outputToken', []));
    if (asset_address === null || asset_address === output.toLowerCase()) return null;
    return `pays out ${output.toLowerCase()}, but asset_address is ${asset_address}`;
  };
  const fundingCheck = (token: (typeof funding_tokens)[number]) => async () => {
    const [input, fee] = await chain.reader.read(
      contractCall(address, fundSwapAbi, 'preview', [token.address, SAMPLE]),
    );
    if (file.fee_bps !== null && input > 0n) {
      const bps = (fee * 10_000n + input / 2n) / input;
      if (bps !== BigInt(file.fee_bps))
        return `the contract takes a fee of ${bps} basis points, but fee_bps is ${file.fee_bps}`;
    }
    // Some contracts preview a swap of any token, and reject an unsupported token only in the swap itself.
    const isAccepted = await optionalView(
      chain.reader.read(contractCall(address, whitelistAbi, 'inputTokens', [token.address])),
    );
    return isAccepted === false
      ? 'the swap contract does not accept this token: inputTokens() is false'
      : null;
  };
  return [
    { path: 'address', run: outputCheck },
    ...funding_tokens.map((token) => ({ path: `funding_tokens.${token.asset}`, run: fundingCheck(token) })),
  ];
}

export async function readFeeBps(chain: EvmChain, swap: Hex): Promise<number> {
  const { net } = await readBuyFee(chain, swap, SAMPLE);
  return feeBpsOf(SAMPLE, net);
}

function tokenizedChecks({ addressOf, file, contract, chain }: CheckTarget): Check[] {
  const { address, domain_name } = contract;
  const feeCheck = async () => {
    const bps = await readFeeBps(chain, address);
    const expected = file.fee_bps ?? 0;
    return bps === expected ? null : `the contract's fee is ${bps} basis points, but fee_bps is ${expected}`;
  };
  const domainCheck = async () =>
    domain_name === null && (await readDomainName(chain, address)) === null
      ? 'is required: the contract has no eip712Domain()'
      : null;
  /** A contract that does not expose its signer passes: only simulating an order would show whether it is right. */
  const operatorCheck = async () => {
    const signer = await readOperator(chain, address);
    const operator = addressOf('quote', chain.name);
    if (operator === null || signer === null || signer === operator.toLowerCase()) return null;
    return `the contract accepts orders signed by ${signer}, not by ${operator}`;
  };
  return [
    { path: 'fee_bps', run: feeCheck },
    { path: 'domain_name', run: domainCheck },
    { path: 'operator', run: operatorCheck },
  ];
}

/** A permission is a message signed by the supplier key that lets a wallet be added to the list. */
function allowListChecks({ contract, chain, addressOf }: CheckTarget): Check[] {
  const list = contract.allow_list;
  if (list === null) return [];
  const { reader } = chain;
  const run = async () => {
    if (await reader.read(contractCall(list, allowListAbi, 'authorized', [zeroAddress])))
      return 'the contract allows every wallet, so there is no allow-list';
    // An issuer's own allow-list accepts no permissions: the issuer adds wallets in a separate process.
    if (!(await acceptsPermissions(chain, list))) return null;
    const domain = await optionalView(reader.read(contractCall(list, allowListAbi, 'eip712Domain', [])));
    if (domain === undefined)
      return 'has nonces(address) but no eip712Domain(), so no permission can be signed';
    const named = await optionalView(reader.read(contractCall(list, allowListAbi, 'supplier', [])));
    const supplier = addressOf('supplier', chain.name);
    if (supplier === null || named === undefined || named.toLowerCase() === supplier.toLowerCase())
      return null;
    return `the contract accepts permissions signed by ${named.toLowerCase()}, not by ${supplier.toLowerCase()}`;
  };
  return [{ path: 'allow_list', run }];
}

/** A token needs as many decimals as its asset, and a transfer must move exactly the requested amount. */
function tokenChecks({ file, digits, contract, chain }: CheckTarget): Check[] {
  const { address: fund, asset_address, funding_tokens } = contract;
  const tokens = [
    ...funding_tokens.map(({ asset, address }) => ({ path: `funding_tokens.${asset}`, asset, address })),
    ...(asset_address === null ? [] : [{ path: 'asset_address', asset: file.asset, address: asset_address }]),
  ];
  const decimalChecks = tokens.map(({ path, asset, address }) => ({
    path,
    run: async () => {
      const decimals = await chain.reader.read(contractCall(address, erc20Abi, 'decimals', []));
      const expected = digits.get(asset);
      return decimals === BigInt(expected ?? -1)
        ? null
        : `the token has ${decimals} decimals, but ${asset} has ${expected} fractional digits`;
    },
  }));
  const transferChecks = funding_tokens.map(({ asset, address }) => ({
    path: `funding_tokens.${asset}`,
    run: () => findInexactTransfers(chain, address, fund),
  }));
  return [...decimalChecks, ...transferChecks];
}
