import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
// Imports `viem/utils` instead of viem's root module, which takes a second to load and would delay the start.
import { decodeErrorResult, hexToBytes, isHex, parseAbi } from 'viem/utils';
import { RpcError } from '../rpc-error.ts';
import { type EdrContext, loadEdr, type Provider } from './edr.ts';

export type RpcRequest = { method: string; params?: unknown };

/** An EIP-1193 provider that viem's `custom` transport accepts. */
export type Evm = { request(args: RpcRequest): Promise<unknown> };

export type EvmOptions = {
  chainId: number;
  /**
   * Accounts that have a balance at genesis. An account with a private key can also send transactions through
   * `eth_sendTransaction`.
   */
  accounts?: { address?: Hex; privateKey?: Hex; balance: bigint }[];
  /** Contracts that exist at genesis. */
  contracts?: { address: Hex; code: Hex }[];
  genesisTimestamp?: number;
  /**
   * If false, only `evm_mine` mines a block, and the caller sets the block's time. Transactions are mined in order of
   * arrival, but a transaction with a future nonce waits for the nonces before it. Default: true.
   */
  automine?: boolean;
};

const GENESIS_TIMESTAMP = 1_735_689_600;
const MINING_METHODS = new Set(['eth_sendRawTransaction', 'eth_sendTransaction', 'evm_mine', 'hardhat_mine']);

// EDR allows one context per process, because the context's constructor installs process-wide hooks.
let context: Promise<EdrContext> | undefined;

function edrContext() {
  context ??= (async () => {
    const edr = loadEdr();
    const created = new edr.EdrContext();
    await created.registerProviderFactory(edr.L1_CHAIN_TYPE, edr.l1ProviderFactory());
    return created;
  })();
  return context;
}

/**
 * Creates an EVM chain in this process. The same transactions always produce the same block hashes, because genesis,
 * randomness and block times are fixed. Blocks are one second apart, unless the caller sets the time.
 */
export async function createEvm(options: EvmOptions): Promise<Evm> {
  const provider = await createProvider(options);
  if (options.automine === false) return { request: ({ method, params }) => send(provider, method, params) };
  return { request: withFixedTime(provider, options) };
}

// Sets the time of every block. Otherwise EDR would use the wall-clock time for the first block after a pause.
function withFixedTime(provider: Provider, options: EvmOptions): Evm['request'] {
  let nextTimestamp = (options.genesisTimestamp ?? GENESIS_TIMESTAMP) + 1;
  let isTimeSet = false;
  let queue: Promise<unknown> = Promise.resolve();

  async function mineInOrder(args: RpcRequest): Promise<unknown> {
    if (!isTimeSet) await send(provider, 'evm_setNextBlockTimestamp', [nextTimestamp]);
    try {
      return await send(provider, args.method, args.params);
    } finally {
      const block = (await send(provider, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex };
      nextTimestamp = Math.max(nextTimestamp, Number(block.timestamp) + 1);
      isTimeSet = false;
    }
  }

  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = queue.then(work);
    queue = result.catch(() => undefined);
    return result;
  }

  return (args) => {
    if (MINING_METHODS.has(args.method)) return inOrder(() => mineInOrder(args));
    if (!args.method.startsWith('evm_')) return send(provider, args.method, args.params);
    return inOrder(async () => {
      const result = await send(provider, args.method, args.params);
      if (args.method === 'evm_setNextBlockTimestamp' || args.method === 'evm_increaseTime') isTimeSet = true;
      return result;
    });
  };
}

async function createProvider(options: EvmOptions): Promise<Provider> {
  const {
    chainId,
    accounts = [],
    contracts = [],
    genesisTimestamp = GENESIS_TIMESTAMP,
    automine = true,
  } = options;
  const edr = loadEdr();
  const hardfork = edr.PRAGUE;
  return (await edrContext()).createProvider(
    edr.L1_CHAIN_TYPE,
    {
      allowBlocksWithSameTimestamp: true,
      allowUnlimitedContractSize: false,
      bailOnCallFailure: true,
      bailOnTransactionFailure: false,
      blockGasLimit: 36_000_000n,
      chainId: BigInt(chainId),
      coinbase: hexToBytes('0x00000000000000000000000000000000000c0de5'),
      genesisState: [
        ...edr.l1GenesisState(edr.l1HardforkFromString(hardfork)),
        ...accounts.map(({ address, privateKey, balance }) => ({
          address: hexToBytes(address ?? privateKeyToAddress(privateKey ?? '0x')),
          balance,
        })),
        ...contracts.map(({ address, code }) => ({ address: hexToBytes(address), code: hexToBytes(code) })),
      ],
      hardfork,
      initialBaseFeePerGas: 1_000_000_000n,
      initialBlobGas: { gasUsed: 0n, excessGas: 0n },
      initialDate: BigInt(genesisTimestamp),
      initialParentBeaconBlockRoot: new Uint8Array(32),
      minGasPrice: 0n,
      mining: {
        autoMine: automine,
        memPool: { order: automine ? 'Priority' : 'Fifo' },
      },
      networkId: BigInt(chainId),
      observability: {},
      ownedAccounts: accounts.flatMap(({ privateKey }) => (privateKey ? [privateKey] : [])),
      precompileOverrides: [],
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => undefined },
    { subscriptionCallback: () => undefined },
    new edr.ContractDecoder(),
  );
}

type EdrFailure = { code: number; message: string; data?: { data?: unknown } | null };

async function send(provider: Provider, method: string, params: unknown = []): Promise<unknown> {
  const response = await provider.handleRequest(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  const reply: { result?: unknown; error?: EdrFailure } =
    typeof response.data === 'string' ? JSON.parse(response.data) : response.data;
  if (!reply.error) return reply.result;
  throw toRpcError(reply.error);
}

const standardErrors = parseAbi(['error Error(string)', 'error Panic(uint256)']);

// Converts an EDR error to the form that nodes use: a revert has code 3, and its data is only the return data.
function toRpcError({ code, message, data }: EdrFailure): RpcError {
  const returned = data?.data;
  if (!isHex(returned)) return new RpcError(code, message);
  const reason = decodeReason(returned);
  return new RpcError(3, reason ? `execution reverted: ${reason}` : 'execution reverted', returned);
}

function decodeReason(data: Hex): string | undefined {
  try {
    const { args } = decodeErrorResult({ abi: standardErrors, data });
    return String(args[0]);
  } catch {
    return undefined;
  }
}
