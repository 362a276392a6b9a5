import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { hexToBigInt, hexToString, isHex, numberToHex } from 'viem/utils';
import type { EvmWallet } from '../flows/wallet.ts';

type Hex = `0x${string}`;
export type WalletCall = { method: string; params?: unknown };
/** Stands between the page and the wallet; `next` is what the wallet would answer. */
export type Interceptor = (
  call: WalletCall,
  next: (call: WalletCall) => Promise<unknown>,
) => Promise<unknown>;

export type TestWalletOptions = {
  privateKey: Hex;
  /** A node for each chain id that the wallet knows. */
  rpcUrls: Record<number, string>;
  /** The chain it is on at first; the lowest id of `rpcUrls` unless told. */
  chainId?: number | undefined;
  /** Asked before anything is signed or sent; false is the owner's no. */
  confirm?: ((call: WalletCall) => boolean | Promise<boolean>) | undefined;
  intercept?: Interceptor | undefined;
};

/** A wallet whose key is in this page: for tests and sandboxes, never for money. */
export type TestWallet = EvmWallet & {
  account: PrivateKeyAccount;
  /** Takes the place of the former interceptor; undefined ends it. */
  intercept(interceptor: Interceptor | undefined): void;
  /** The raw request of a node, past any interceptor. */
  node(method: string, params?: unknown): Promise<unknown>;
};

/**
 * What EIP-1193 calls a failed request.
 *
 * @example
 * ```ts
 * import { ProviderError } from '@causeway/sdk/testing';
 *
 * const no = new ProviderError(4001, 'User rejected the request.');
 * console.log(no.code);
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

const RPC_TIMEOUT = 20_000;
const ASKS = /^(personal_sign|eth_signTypedData_v4|eth_sendTransaction|wallet_)/;

/**
 * An EIP-1193 wallet over a private key and the addresses of nodes, in the page or in Node.
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
    tail: Promise.resolve(),
  };
  let interceptor = options.intercept;
  const answerOwner = async (call: WalletCall) => {
    if (ASKS.test(call.method) && options.confirm !== undefined && !(await options.confirm(call)))
      throw new ProviderError(4001, 'User rejected the request.');
    return answer(state, call);
  };
  return {
    protocol: 'ethereum',
    address: account.address,
    account,
    provider: {
      request: async (call) =>
        interceptor === undefined ? answerOwner(call) : interceptor(call, answerOwner),
    },
    intercept: (next) => {
      interceptor = next;
    },
    node: (method, params = []) => askNode(state, method, params),
  };
}

type State = {
  account: PrivateKeyAccount;
  rpcUrls: Map<number, string>;
  chainId: number;
  /** Sends go one after the other: they share a sequence of nonces. */
  tail: Promise<unknown>;
};

async function answer(state: State, { method, params }: WalletCall): Promise<unknown> {
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
      const sent = state.tail.then(() => sendTransaction(state, first));
      state.tail = sent.catch(() => undefined);
      return sent;
    }
    default:
      return askNode(state, method, params ?? []);
  }
}

function switchChain(state: State, chainId: number): null {
  if (!state.rpcUrls.has(chainId)) throw new ProviderError(4902, `Unrecognized chain ID ${chainId}.`);
  state.chainId = chainId;
  return null;
}

function assertOwn({ account }: State, address: unknown): void {
  if (String(address).toLowerCase() !== account.address.toLowerCase())
    throw new ProviderError(4100, 'The account is not one of this wallet.');
}

export type TransactionRequest = {
  from: Hex;
  /** Without it a contract is made. */
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
  return askNode(state, 'eth_sendRawTransaction', [raw]);
}

async function signTransaction(state: State, request: TransactionRequest): Promise<Hex> {
  assertOwn(state, request.from);
  if (request.chainId !== undefined && Number(request.chainId) !== state.chainId)
    throw new ProviderError(-32602, 'The transaction is for another chain.');
  const { from, to, data = '0x', value = '0x0' } = request;
  const ask = async (method: string, params: unknown[]) => (await askNode(state, method, params)) as Hex;
  const [nonce, gas, price] = await Promise.all([
    request.nonce ?? ask('eth_getTransactionCount', [from, 'pending']),
    request.gas ?? ask('eth_estimateGas', [{ from, to, data, value }]),
    ask('eth_gasPrice', []),
  ]);
  return state.account.signTransaction({
    type: 'eip1559',
    chainId: state.chainId,
    ...{ to, data },
    value: hexToBigInt(value),
    nonce: Number(nonce),
    // What an estimate says is enough now; the next block may need a little more.
    gas: (hexToBigInt(gas) * 12n) / 10n,
    maxFeePerGas:
      request.maxFeePerGas === undefined ? hexToBigInt(price) * 2n : hexToBigInt(request.maxFeePerGas),
    maxPriorityFeePerGas: hexToBigInt(request.maxPriorityFeePerGas ?? '0x1'),
  });
}

async function askNode(state: State, method: string, params: unknown): Promise<unknown> {
  const reply = await fetch(String(state.rpcUrls.get(state.chainId)), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(RPC_TIMEOUT),
  });
  const { result, error } = (await reply.json()) as {
    result?: unknown;
    error?: { code: number; message: string; data?: unknown };
  };
  if (error !== undefined) throw new ProviderError(error.code, error.message, error.data);
  return result;
}

/**
 * The text that a `personal_sign` asks to sign, for a page that shows it.
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
