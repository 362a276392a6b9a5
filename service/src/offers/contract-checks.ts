import type { Hex } from 'viem';
import { parseAbi } from 'viem/utils';
import { erc20Abi, fundSwapAbi } from '../chain/evm/abi.ts';
import { findChainIdProblems } from '../chain/evm/chain-id.ts';
import type { EvmChain } from '../chain/evm/client.ts';
import { contractCall } from '../chain/evm/contract-call.ts';
import { describeRevert, revertData } from '../chain/evm/revert.ts';
import { encodeRoleProbe, readFundGeneration } from '../chain/evm/sale-fund.ts';
import type { Chains } from '../chain/open-chains.ts';
import { findApiError } from '../chain/rpc/failures.ts';
import { ApiError } from '../errors.ts';
import type { OfferFile } from './file-schema.ts';

/** The inputs of the checks beside the file. `operator` is the settlement address; null skips its checks. */
export type CheckParts = {
  chains: Pick<Chains, 'evm'>;
  digits: ReadonlyMap<string, number>;
  operator: Hex | null;
};

type Contract = OfferFile['contracts'][number];
type Check = { path: string; run: () => Promise<string | null> };

const fundAbi = parseAbi([
  'function minCommit() view returns (uint256)',
  'function id() view returns (bytes32)',
  'function KIND() view returns (uint256)',
  'function stopped() view returns (uint256)',
  'function totals(address user, bytes32 option, address token) view returns (uint256, uint256, uint256, uint256)',
]);

const tokenizedAbi = parseAbi([
  'function fee(uint8 side, uint256 amount) view returns (uint256 fee, uint256 net)',
  'function totals(address user, address input, address output) view returns (uint256, uint256, uint256, uint256)',
  'function domainSeparator() view returns (bytes32)',
  'function operator() view returns (address)',
  'function eip712Domain() view returns (bytes1, string, string, uint256, address, bytes32, uint256[])',
]);

const zeroAddress: Hex = `0x${'00'.repeat(20)}`;
const zeroHash: Hex = `0x${'00'.repeat(32)}`;
/** Funding-token units that the fee and preview checks are computed for. */
const SAMPLE = 10n ** 12n;

/** Checks the contracts of an offer file against the chains. Returns one line per problem, with its path. */
export async function checkContracts(parts: CheckParts, file: OfferFile): Promise<string[]> {
  const found = await Promise.all(
    file.contracts.map(async (contract) => {
      const at = `${file.slug}: contracts.${contract.chain}`;
      const chain = openChain(parts.chains, contract.chain);
      if (chain === null)
        return [`${at}: cannot be checked: RPC_URL_${contract.chain.toUpperCase()} is not set`];
      const wrongChain = await findChainIdProblems(chain);
      if (wrongChain.length > 0) return wrongChain.map((problem) => `${at}: ${problem}`);
      const problems = await Promise.all(listChecks(parts, file, contract, chain).map(runCheck));
      return problems.flatMap((problem) => (problem === null ? [] : [`${at}.${problem}`]));
    }),
  );
  return found.flat();
}

function openChain(chains: Pick<Chains, 'evm'>, name: string): EvmChain | null {
  try {
    return chains.evm(name);
  } catch {
    return null;
  }
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

function describeFailure({ code, details, message }: ApiError): string {
  if (code === 'contract_not_found') return 'no contract at this address';
  if (code === 'contract_reverted') return `does not have the expected interface (${String(details.reason)})`;
  return message;
}

function listChecks(parts: CheckParts, file: OfferFile, contract: Contract, chain: EvmChain): Check[] {
  const checksOfType = {
    'platform::token_sale': fundChecks,
    'fund::swap': swapChecks,
    'tokenized::swap': tokenizedChecks,
  }[file.type];
  const { asset_address, funding_tokens } = contract;
  const tokens = [
    ...funding_tokens.map(({ asset, address }) => ({ path: `funding_tokens.${asset}`, asset, address })),
    ...(asset_address === null ? [] : [{ path: 'asset_address', asset: file.asset, address: asset_address }]),
  ];
  return [
    ...checksOfType(parts, file, contract, chain),
    ...tokens.map(({ path, asset, address }) => ({
      path,
      run: async () => {
        const decimals = await chain.reader.read(contractCall(lower(address), erc20Abi, 'decimals', []));
        const expected = parts.digits.get(asset);
        return decimals === BigInt(expected ?? -1)
          ? null
          : `the token has ${decimals} decimals, but ${asset} has ${expected} fractional digits`;
      },
    })),
  ];
}

function fundChecks(
  { operator }: CheckParts,
  _file: OfferFile,
  contract: Contract,
  chain: EvmChain,
): Check[] {
  const address = lower(contract.address);
  const token = lower(contract.funding_tokens[0]?.address ?? zeroAddress);
  const read = (name: 'minCommit' | 'id' | 'stopped') =>
    chain.reader.read(contractCall(address, fundAbi, name, []));
  const interfaceCheck = async () => {
    const kind = await chain.reader.read(contractCall(address, fundAbi, 'KIND', []));
    await Promise.all([read('minCommit'), read('id'), read('stopped')]);
    await chain.reader.read(contractCall(address, fundAbi, 'totals', [zeroAddress, zeroHash, token]));
    return kind === 0n ? null : `its KIND is ${kind}, but that of a sale fund is 0`;
  };
  const roleCheck = (functionName: 'commit' | 'remit') => async () => {
    if (operator === null) return null;
    const data = encodeRoleProbe(functionName, token, await readFundGeneration(chain, address));
    const revert = await simulate(chain, operator, address, data);
    return revert === 'Unauthorized()'
      ? `the operator ${operator} does not have the ${functionName} role`
      : null;
  };
  return [
    { path: 'address', run: interfaceCheck },
    { path: 'operator', run: roleCheck('commit') },
    { path: 'operator', run: roleCheck('remit') },
  ];
}

function swapChecks(_parts: CheckParts, _file: OfferFile, contract: Contract, chain: EvmChain): Check[] {
  const address = lower(contract.address);
  const { asset_address, allow_list, funding_tokens } = contract;
  const outputCheck = async () => {
    const output = await chain.reader.read(contractCall(address, fundSwapAbi, 'outputToken', []));
    await chain.reader.read(contractCall(address, fundSwapAbi, 'stopped', []));
    await chain.reader.read(contractCall(address, fundSwapAbi, 'SWAP_LEVEL', []));
    if (asset_address === null || lower(asset_address) === lower(output)) return null;
    return `pays out ${lower(output)}, but asset_address is ${lower(asset_address)}`;
  };
  return [
    { path: 'address', run: outputCheck },
    ...(allow_list === false ? [] : [allowListCheck(contract, chain)]),
    ...funding_tokens.map((token) => ({
      path: `funding_tokens.${token.asset}`,
      run: async () => {
        await chain.reader.read(
          contractCall(address, fundSwapAbi, 'preview', [lower(token.address), SAMPLE]),
        );
        return null;
      },
    })),
  ];
}

function allowListCheck({ address, allow_list }: Contract, chain: EvmChain): Check {
  const list = lower(allow_list === true ? address : String(allow_list));
  return {
    path: 'allow_list',
    run: async () => {
      const isOpen = await chain.reader.read(contractCall(list, fundSwapAbi, 'authorized', [zeroAddress]));
      return isOpen ? 'the contract allows every wallet, so there is no allow-list' : null;
    },
  };
}

function tokenizedChecks(
  { operator }: CheckParts,
  file: OfferFile,
  contract: Contract,
  chain: EvmChain,
): Check[] {
  const address = lower(contract.address);
  const { asset_address, domain_name, allow_list, funding_tokens } = contract;
  const feeCheck = async () => {
    const [fee] = await chain.reader.read(contractCall(address, tokenizedAbi, 'fee', [0, SAMPLE]));
    const bps = BigInt(file.fee_bps ?? 0);
    const expected = SAMPLE - (SAMPLE * 10_000n) / (10_000n + bps);
    return fee === expected
      ? null
      : `the contract fee differs from fee_bps = ${bps}: it takes ${fee} of ${SAMPLE}, not ${expected}`;
  };
  const interfaceCheck = async () => {
    const pair = [
      zeroAddress,
      lower(funding_tokens[0]?.address ?? zeroAddress),
      lower(asset_address ?? zeroAddress),
    ] as const;
    await chain.reader.read(contractCall(address, tokenizedAbi, 'totals', pair));
    await chain.reader.read(contractCall(address, tokenizedAbi, 'domainSeparator', []));
    return null;
  };
  const domainCheck = async () => {
    const domain = await ignoreRevert(
      chain.reader.read(contractCall(address, tokenizedAbi, 'eip712Domain', [])),
    );
    return domain === undefined && domain_name === null
      ? 'is required: the contract has no eip712Domain()'
      : null;
  };
  const operatorCheck = async () => {
    const set = await ignoreRevert(chain.reader.read(contractCall(address, tokenizedAbi, 'operator', [])));
    if (operator === null || set === undefined || lower(set) === lower(operator)) return null;
    return `the contract accepts orders signed by ${lower(set)}, not by ${operator}`;
  };
  return [
    { path: 'address', run: interfaceCheck },
    { path: 'fee_bps', run: feeCheck },
    { path: 'domain_name', run: domainCheck },
    { path: 'operator', run: operatorCheck },
    ...(allow_list === false ? [] : [allowListCheck(contract, chain)]),
  ];
}

/** Returns the revert reason of a call from `from`, or null if it succeeds. */
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

/** Resolves to undefined if the contract reverts, that is, lacks the function. */
function ignoreRevert<T>(read: Promise<T>): Promise<T | undefined> {
  return read.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'contract_reverted') return undefined;
    throw error;
  });
}

function lower(address: string): Hex {
  return address.toLowerCase() as Hex;
}
