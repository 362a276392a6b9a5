import type { Hex } from 'viem';
import { chainIdOf } from '../chains.ts';
import type { Causeway } from '../client.ts';
import type { EventHub } from '../event-hub.ts';
import { notify } from '../notify.ts';
import { abortable, sleep } from '../sleep.ts';
import type { Chain, EvmChain } from '../wire.ts';
import { addChainParameters } from './add-chain.ts';
import { FlowFailure, type FlowOptions, type TrustedContracts } from './flow.ts';
import type { RpcTransaction } from './rpc.ts';
import type { Eip1193Provider, EvmWallet, PublicClient } from './wallet.ts';
import { hasCode, isUnclear } from './wallet-error.ts';

/** The part of a flow's state that is the same for EVM and Solana wallets. */
export type WalletSession = {
  causeway: Causeway;
  /** The wallet's address; EVM addresses are in lower case. */
  address: string;
  chain: Chain;
  signal: AbortSignal | undefined;
  confirmationTimeoutMs: number;
  pollIntervalMs: number;
  rpcUrls: readonly string[];
  trusted: TrustedContracts | undefined;
  /** The host's event stream, or undefined if the host has none. */
  events: EventHub | undefined;
  onSend: FlowOptions<never>['onSend'];
  siwe: FlowOptions<never>['siwe'];
  /** Called with the hash of every transaction that the wallet sends. */
  reportTransaction(hash: string): void;
};

/**
 * An EVM wallet on a chain, for the duration of a flow. The flow reads the chain through the host's public client or,
 * if there is none, through the wallet's provider.
 */
export type Session = WalletSession & {
  wallet: EvmWallet;
  address: Hex;
  chain: EvmChain;
  chainId: number;
  /** The host's public client; undefined if the flow reads through the wallet. */
  reader: Eip1193Provider | undefined;
  batching: 'auto' | 'off';
  /**
   * The transactions that this session has sent, by hash. Each entry stands in for its transaction until the node
   * returns the transaction. The nonces are estimates.
   */
  sent: Map<Hex, RpcTransaction>;
};

const DEFAULT_CONFIRMATION_TIMEOUT_MS = 600_000;
const DEFAULT_POLL_INTERVAL_MS = 2_000;
const READ_TIMEOUT_MS = 20_000;
const SWITCH_CHECKS = 10;
const SWITCH_CHECK_INTERVAL_MS = 100;

export function openSession(
  causeway: Causeway,
  { wallet, chain }: { wallet: EvmWallet; chain: EvmChain },
  options: FlowOptions<never>,
  reportTransaction: (hash: string) => void,
): Session {
  const address = wallet.address.toLowerCase() as Hex;
  const chainId = chainIdOf(chain);
  return {
    ...openWalletSession(causeway, { address, chain }, options, reportTransaction),
    ...{ wallet, address, chain, chainId, sent: new Map() },
    reader: readerOf(options.publicClient, chainId),
    batching: options.batching ?? 'auto',
  };
}

function readerOf(publicClient: PublicClient | undefined, chainId: number): Eip1193Provider | undefined {
  return (typeof publicClient === 'function' ? publicClient(chainId) : publicClient) as
    | Eip1193Provider
    | undefined;
}

/**
 * Opens the part of a session that is the same for EVM and Solana wallets. Fills in the defaults of the flow's options.
 */
export function openWalletSession(
  causeway: Causeway,
  { address, chain }: { address: string; chain: Chain },
  options: FlowOptions<never>,
  reportTransaction: (hash: string) => void,
): WalletSession {
  const { signal, rpcUrls = {}, trusted, events, onSend, siwe } = options;
  return {
    ...{ causeway, address, chain, signal, reportTransaction, trusted, events, onSend, siwe },
    confirmationTimeoutMs: options.confirmationTimeoutMs ?? DEFAULT_CONFIRMATION_TIMEOUT_MS,
    pollIntervalMs: options.pollIntervalMs ?? DEFAULT_POLL_INTERVAL_MS,
    rpcUrls: rpcUrls[chain] ?? [],
  };
}

/** Reads the chain through the host's public client or, if there is none, through the wallet's provider. */
export function readNode(session: Session, method: string, params: unknown[] = []): Promise<unknown> {
  const { reader, wallet, signal } = session;
  return readFrom(reader ?? wallet.provider, signal, method, params);
}

/** Calls a wallet method that shows no prompt. */
export function readWallet(session: Session, method: string, params: unknown[] = []): Promise<unknown> {
  return readFrom(session.wallet.provider, session.signal, method, params);
}

async function readFrom(
  provider: Eip1193Provider,
  signal: AbortSignal | undefined,
  method: string,
  params: unknown[],
): Promise<unknown> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error(`${method} timed out.`)), READ_TIMEOUT_MS);
  try {
    return await abortable(timeout.signal, abortable(signal, provider.request({ method, params })));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Connects the wallet and switches it to the session's chain. Throws if the wallet has a different account or cannot
 * switch.
 */
export async function connectWallet(session: Session): Promise<void> {
  if ((await readAccounts(session)).length === 0) await prompt(session, 'eth_requestAccounts', []);
  await assertAccount(session);
  await assertReader(session);
  await ensureChain(session);
}

/**
 * Checks that the wallet is on the right account and chain, and then prompts its owner. If the flow is aborted, the
 * prompt stays open, and `onLate` is called if the owner approves later. Throws `outcome_unknown` if it is not clear
 * whether the wallet has sent a transaction.
 */
export async function promptOwner(
  session: Session,
  method: string,
  params: unknown[],
  onLate?: (answer: unknown) => void,
): Promise<unknown> {
  await assertAccount(session);
  await ensureChain(session);
  session.signal?.throwIfAborted();
  const answer = prompt(session, method, params, onLate);
  return isSend(method) ? clarifyFailure(session.signal, answer) : answer;
}

const isSend = (method: string) => /_send/.test(method);

/**
 * Replaces an error with `outcome_unknown` if the wallet may have sent the transaction, for example if its connection
 * failed after the request. With the original error, the app might retry and send the transaction twice. Does not
 * replace the error of an aborted flow.
 */
export function clarifyFailure<Answer>(
  signal: AbortSignal | undefined,
  answer: Promise<Answer>,
): Promise<Answer> {
  return answer.catch((error: unknown) => {
    throw !signal?.aborted && isUnclear(error) ? mayBeSent(error) : error;
  });
}

const MAY_BE_SENT = 'The transaction may have been sent. Check your wallet before you retry.';

export function mayBeSent(cause?: unknown): FlowFailure {
  return new FlowFailure('outcome_unknown', MAY_BE_SENT, { cause });
}

export async function isOnChain(session: Session): Promise<boolean> {
  return Number(await readWallet(session, 'eth_chainId')) === session.chainId;
}

/** Throws if the host's public client reads a different chain: its answers would be about other contracts. */
async function assertReader(session: Session): Promise<void> {
  if (session.reader === undefined) return;
  const chainId = Number(await readNode(session, 'eth_chainId'));
  if (chainId === session.chainId) return;
  throw new FlowFailure(
    'invalid_input',
    `publicClient reads chain ${chainId} instead of ${session.chainId}. Pass a function that returns the client for a chain id.`,
  );
}

/** Has no timeout, because the owner may take any amount of time to decide. */
function prompt(
  { wallet, signal, onSend }: Session,
  method: string,
  params: unknown[],
  onLate?: (answer: unknown) => void,
): Promise<unknown> {
  const answer = wallet.provider.request({ method, params });
  if (isSend(method)) notify(onSend, answer);
  answer.then((late) => signal?.aborted && onLate?.(late)).catch(() => undefined);
  return abortable(signal, answer);
}

async function readAccounts(session: Session): Promise<string[]> {
  const accounts = await readWallet(session, 'eth_accounts');
  return Array.isArray(accounts) ? accounts.map((account) => String(account).toLowerCase()) : [];
}

async function assertAccount(session: Session): Promise<void> {
  if ((await readAccounts(session)).includes(session.address)) return;
  throw new FlowFailure('wallet_changed', `The wallet no longer has the account ${session.address}.`);
}

async function ensureChain(session: Session): Promise<void> {
  if (await isOnChain(session)) return;
  await switchChain(session);
  // Some wallets respond before they have switched chains.
  for (let check = 0; check < SWITCH_CHECKS; check++) {
    if (await isOnChain(session)) return;
    await sleep(SWITCH_CHECK_INTERVAL_MS, session.signal);
  }
  throw wrongChain(session);
}

/** EIP-3326: the wallet does not know the chain. */
const UNRECOGNIZED_CHAIN = 4902;
/** The wallet does not implement the method: 4200 in EIP-1193, -32601 in JSON-RPC. */
const UNSUPPORTED_METHOD = [4200, -32601];

async function switchChain(session: Session): Promise<void> {
  const params = [{ chainId: `0x${session.chainId.toString(16)}` }];
  try {
    await prompt(session, 'wallet_switchEthereumChain', params);
  } catch (error) {
    if (hasCode(error, UNRECOGNIZED_CHAIN) && session.rpcUrls.length > 0)
      await prompt(session, 'wallet_addEthereumChain', [addChainParameters(session.chain, session.rpcUrls)]);
    else if (hasCode(error, UNRECOGNIZED_CHAIN, ...UNSUPPORTED_METHOD)) throw wrongChain(session, error);
    else throw error;
  }
}

export function wrongChain({ chain }: Session, cause?: unknown, transactionHash?: Hex): FlowFailure {
  return new FlowFailure('wrong_chain', `The wallet is not on ${chain}.`, {
    cause,
    transactionHash,
  });
}
