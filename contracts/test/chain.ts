import { createEvm, type Evm } from '@causeway/sandbox/simulators/chains/evm.ts';
import { RpcError } from '@causeway/sandbox/simulators/rpc-error.ts';
import {
  type Abi,
  createPublicClient,
  custom,
  defineChain,
  type EncodeDeployDataParameters,
  encodeDeployData,
  encodeErrorResult,
  encodeFunctionData,
  type Hex,
  isHex,
  keccak256,
  type PublicClient,
  type TransactionReceipt,
  toHex,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { multicall3 } from '../abi/multicall3.ts';

export type Call = {
  address: Hex;
  abi: Abi | readonly unknown[];
  functionName: string;
  args?: readonly unknown[];
};
export type Deployed<abi> = { address: Hex; abi: abi };
export type Chain = { evm: Evm; client: PublicClient; id: number };

function account(name: string): PrivateKeyAccount {
  return privateKeyToAccount(keccak256(toHex(name)));
}

/** The accounts used in the tests. Each has ether for gas. */
export const accounts = {
  owner: account('owner'),
  operator: account('operator'),
  alice: account('alice'),
  bob: account('bob'),
  mallory: account('mallory'),
  treasury: account('treasury'),
  supplier: account('supplier'),
  venue: account('venue'),
};

// The address of Multicall3 on public chains, which viem also uses here.
const multicallAddress = '0xcA11bde05977b3631167028862bE2a173976CA11';

export async function startChain(id = 11155111): Promise<Chain> {
  const funded = Object.keys(accounts).map((name) => ({
    privateKey: keccak256(toHex(name)),
    balance: 10n ** 21n,
  }));
  const contracts = [{ address: multicallAddress, code: multicall3.deployedBytecode } as const];
  const evm = await createEvm({ chainId: id, accounts: funded, contracts });
  const definition = defineChain({
    id,
    name: 'Test',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
    contracts: { multicall3: { address: multicallAddress } },
  });
  const client = createPublicClient({
    chain: definition,
    transport: custom(evm, { retryCount: 0 }),
    cacheTime: 0,
  });
  return { evm, client, id };
}

/** Deploys a contract from the owner's account. */
export async function deploy<const abi extends Abi | readonly unknown[]>(
  chain: Chain,
  artifact: { abi: abi; bytecode: Hex },
  args: readonly unknown[] = [],
): Promise<Deployed<abi>> {
  const data = encodeDeployData({ ...artifact, args } as EncodeDeployDataParameters);
  const { contractAddress } = await transact(chain, accounts.owner, { data });
  if (!contractAddress) throw new Error('the transaction deployed no contract');
  return { address: contractAddress, abi: artifact.abi };
}

/** Sends a transaction. Throws if it reverts. */
export async function send(
  chain: Chain,
  from: PrivateKeyAccount,
  call: Call,
  gas?: bigint,
): Promise<TransactionReceipt> {
  return transact(chain, from, { to: call.address, data: encodeCall(call) }, gas);
}

async function transact(
  { evm, client }: Chain,
  from: PrivateKeyAccount,
  transaction: { to?: Hex; data: Hex },
  gas = 8_000_000n,
): Promise<TransactionReceipt> {
  const params = [{ ...transaction, from: from.address, gas: toHex(gas) }];
  const hash = (await evm.request({ method: 'eth_sendTransaction', params })) as Hex;
  const receipt = await client.getTransactionReceipt({ hash });
  if (receipt.status !== 'success') {
    await evm.request({ method: 'eth_call', params: [...params, 'latest'] });
    throw new Error('the transaction reverted');
  }
  return receipt;
}

/** Returns the revert data of a call. Throws if the call does not revert. */
export async function revertData({ evm }: Chain, from: PrivateKeyAccount, call: Call): Promise<Hex> {
  const params = [{ from: from.address, to: call.address, data: encodeCall(call) }, 'latest'];
  try {
    await evm.request({ method: 'eth_call', params });
  } catch (error) {
    if (error instanceof RpcError && isHex(error.data)) return error.data;
    throw error;
  }
  throw new Error(`${call.functionName} did not revert`);
}

/** Expects the call to revert with exactly this error and these arguments. */
export async function expectRevert(
  chain: Chain,
  from: PrivateKeyAccount,
  call: Call,
  selector: Hex,
  args: readonly unknown[] = [],
): Promise<void> {
  const data = await revertData(chain, from, call);
  expect(data.slice(0, 10)).toBe(selector);
  const inputs = args.map((value) => ({ name: '', type: solidityType(value) }));
  const expected = encodeErrorResult({
    abi: [{ type: 'error', name: 'E', inputs }],
    errorName: 'E',
    args,
  });
  expect(data.slice(10)).toBe(expected.slice(10));
}

function solidityType(value: unknown): string {
  if (typeof value !== 'string') return 'uint256';
  return value.length === 42 ? 'address' : 'bytes32';
}

export function encodeCall({ abi, functionName, args = [] }: Call): Hex {
  return encodeFunctionData({ abi: abi as Abi, functionName, args });
}

export async function now({ client }: Chain): Promise<bigint> {
  return (await client.getBlock()).timestamp;
}

/** Mines a block with this timestamp. */
export async function setTime({ evm }: Chain, timestamp: bigint): Promise<void> {
  await evm.request({ method: 'evm_setNextBlockTimestamp', params: [Number(timestamp)] });
  await evm.request({ method: 'evm_mine' });
}

/** Runs `work` and restores the chain's state afterwards. */
export async function withSnapshot<T>({ evm }: Chain, work: () => Promise<T>): Promise<T> {
  const snapshot = await evm.request({ method: 'evm_snapshot' });
  try {
    return await work();
  } finally {
    await evm.request({ method: 'evm_revert', params: [snapshot] });
  }
}
