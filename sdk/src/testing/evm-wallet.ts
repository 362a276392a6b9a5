import type { Hex } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { hexToBigInt, hexToString, isHex, numberToHex } from 'viem/utils';
import type { EvmWallet } from '../flows/wallet.ts';

export type WalletCall = { method: string; params?: unknown };
/** Intercepts the page's calls to the wallet. `next` passes a call on to the wallet. */
export type Interceptor = (
  call: WalletCall,
  next: (call: WalletCall) => Promise<unknown>,
) => Promise<unknown>;

export type TestWalletOptions = {
  privateKey: Hex;
  /** A node URL for each supported chain id. */
  rpcUrls: Record<number, string>;
  /** The initial chain. Default: the lowest id in `rpcUrls`. */
  chainId?: number | undefined;
  /**
   * Called before anything is signed or sent, and before the wallet switches or adds a chain. Return false to reject
   * the request.
   */
  confirm?: ((call: WalletCall) => boolean | Promise<boolean>) | undefined;
  intercept?: Interceptor | undefined;
};

/** A wallet with its private key in the page, for tests and sandboxes only. Never use it with real money. */
export type TestWallet = EvmWallet & {
  account: PrivateKeyAccount;
  /** Replaces the interceptor; undefined removes it. */
  intercept(interceptor: Interceptor | undefined): void;
  /** Calls the node directly, bypassing the interceptor. */
  node(method: string, params?: unknown): Promise<unknown>;
};

/**
 * The error that a failed EIP-1193 request throws.
 *
 * @example
 * ```ts
 * import { ProviderError } from '@causeway/sdk/testing';
 *
 * const rejection = new ProviderError(4001, 'User rejected the request.');
 * console.log(rejection.code);
 * ```
 */
export class ProviderError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'ProviderError';
    this.code = code;
    this.data = data;
  }
}

const RPC_TIMEOUT_MS = 20_000;
/** Methods that need the owner's confirmation. */
const PROMPTS = /^(personal_sign|eth_signTypedData_v4|eth_sendTransaction|wallet_)/;

/**
 * Creates an EIP-1193 wallet from a private key and node URLs, for browsers and Node.
 *
 * @example
 * ```ts
 * import { createTestWallet } from '@causeway/sdk/testing';
 *
 * const wallet = createTestWallet({
 *   privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
 *   rpcUrls: { 11155111: 'http://127.0.0.1:8545' },
 * });
 * console.log(wallet.address);
 * ```
 */
export function createTestWallet(options: TestWalletOptions): TestWallet {
  const account = privateKeyToAccount(options.privateKey);
  const state: State = {
    account,
    rpcUrls: new Map(Object.entries(options.rpcUrls).map(([id, url]) => [Number(id), url])),
    chainId: options.chainId ?? Number(Object.keys(options.rpcUrls)[0]),
    lastSend: Promise.resolve(),
  };
  let interceptor = options.intercept;
  const handle = async (call: WalletCall) => {
    if (PROMPTS.test(call.method) && options.confirm !== undefined && !(await options.confirm(call)))
      throw new ProviderError(4001, 'User rejected the request.');
    return handleCall(state, call);
  };
  return {
    protocol: 'ethereum',
    address: account.address,
    account,
    provider: {
      request: async (call) => (interceptor === undefined ? handle(call) : interceptor(call, handle)),
    },
    intercept: (next) => {
      interceptor = next;
    },
    node: (method, params = []) => callNode(state, method, params),
  };
}

type State = {
  account: PrivateKeyAccount;
  rpcUrls: Map<number, string>;
  chainId: number;
  /**
   * Resolves when the last transaction has been sent. Transactions are sent one at a time, because they share a nonce
   * sequence.
   */
  lastSend: Promise<unknown>;
};

async function handleCall(state: State, { method, params }: WalletCall): Promise<unknown> {
  const [first, second] = Array.isArray(params) ? params : [];
  switch (method) {
    case 'eth_accounts':
    case 'eth_requestAccounts':
      return [state.account.address.toLowerCase()];
    case 'eth_chainId':
      return numberToHex(state.chainId);
    case 'wallet_switchEthereumChain':
      return switchChain(state, Number(first.chainId));
    case 'wallet_addEthereumChain':
      state.rpcUrls.set(Number(first.chainId), String(first.rpcUrls?.[0]));
      return switchChain(state, Number(first.chainId));
    case 'personal_sign':
      assertOwn(state, second);
      return state.account.signMessage({ message: isHex(first) ? { raw: first } : String(first) });
    case 'eth_signTypedData_v4':
      assertOwn(state, first);
      return state.account.signTypedData(typeof second === 'string' ? JSON.parse(second) : second);
    case 'eth_sendTransaction': {
      const sent = state.lastSend.then(() => sendTransaction(state, first));
      state.lastSend = sent.catch(() => undefined);
      return sent;
    }
    default:
      return callNode(state, method, params ?? []);
  }
}

function switchChain(state: State, chainId: number): null {
  if (!state.rpcUrls.has(chainId)) throw new ProviderError(4902, `Unrecognized chain ID ${chainId}.`);
  state.chainId = chainId;
  return null;
}

function assertOwn({ account }: State, address: unknown): void {
  if (String(address).toLowerCase() !== account.address.toLowerCase())
    throw new ProviderError(4100, `This wallet does not have the account ${String(address)}.`);
}

export type TransactionRequest = {
  from: Hex;
  /** The recipient. Omit it to deploy a contract. */
  to?: Hex | undefined;
  data?: Hex;
  value?: Hex;
  nonce?: Hex;
  gas?: Hex;
  chainId?: Hex;
  maxFeePerGas?: Hex;
  maxPriorityFeePerGas?: Hex;
};

async function sendTransaction(state: State, request: TransactionRequest): Promise<unknown> {
  const raw = await signTransaction(state, request);
  return callNode(state, 'eth_sendRawTransaction', [raw]);
}

async function signTransaction(state: State, request: TransactionRequest): Promise<Hex> {
  assertOwn(state, request.from);
  if (request.chainId !== undefined && Number(request.chainId) !== state.chainId)
    throw new ProviderError(
      -32602,
      `The transaction is for chain ${Number(request.chainId)}, but the wallet is on ${state.chainId}.`,
    );
  const { from, to, data = '0x', value = '0x0' } = request;
  const read = async (method: string, params: unknown[]) => (await callNode(state, method, params)) as Hex;
  const [nonce, gas, price] = await Promise.all([
    request.nonce ?? read('eth_getTransactionCount', [from, 'pending']),
    request.gas ?? read('eth_estimateGas', [{ from, to, data, value }]),
    read('eth_gasPrice', []),
  ]);
  return state.account.signTransaction({
    type: 'eip1559',
    chainId: state.chainId,
    ...{ to, data },
    value: hexToBigInt(value),
    nonce: Number(nonce),
    // Adds 20%, because the transaction may use a little more gas in the next block than estimated.
    gas: (hexToBigInt(gas) * 12n) / 10n,
    maxFeePerGas:
      request.maxFeePerGas === undefined ? hexToBigInt(price) * 2n : hexToBigInt(request.maxFeePerGas),
    maxPriorityFeePerGas: hexToBigInt(request.maxPriorityFeePerGas ?? '0x1'),
  });
}

async function callNode(state: State, method: string, params: unknown): Promise<unknown> {
  const reply = await fetch(String(state.rpcUrls.get(state.chainId)), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(RPC_TIMEOUT_MS),
  });
  const { result, error } = (await reply.json()) as {
    result?: unknown;
    error?: { code: number; message: string; data?: unknown };
  };
  if (error !== undefined) throw new ProviderError(error.code, error.message, error.data);
  return result;
}

/**
 * Returns the message of a `personal_sign` call, for display.
 *
 * @example
 * ```ts
 * import { readSignedText } from '@causeway/sdk/testing';
 *
 * console.log(readSignedText({ method: 'personal_sign', params: ['0x6869'] })); // "hi"
 * ```
 */
export function readSignedText({ params }: WalletCall): string {
  const [text] = Array.isArray(params) ? params : [];
  return isHex(text) ? hexToString(text) : String(text);
}
